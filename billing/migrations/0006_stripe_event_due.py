from datetime import UTC, datetime

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("billing", "0005_top_up_gate")]

    operations = [
        migrations.AddField(
            model_name="stripeevent",
            name="due_at",
            field=models.DateTimeField(
                default=datetime(2026, 1, 1, tzinfo=UTC), verbose_name="due"
            ),
            preserve_default=False,
        ),
        migrations.RemoveIndex(model_name="stripeevent", name="billing_event_unprocessed"),
        migrations.AddIndex(
            model_name="stripeevent",
            index=models.Index(
                fields=["due_at"],
                name="billing_event_unprocessed",
                condition=Q(processed_at__isnull=True),
            ),
        ),
    ]
