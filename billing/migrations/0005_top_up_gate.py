from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("billing", "0004_hold_move_rules")]

    operations = [
        migrations.CreateModel(
            name="TopUpGate",
            fields=[
                (
                    "id",
                    models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False),
                ),
                ("is_open", models.BooleanField(default=False, verbose_name="open")),
                ("reason", models.CharField(blank=True, max_length=200, verbose_name="reason")),
                ("changed_at", models.DateTimeField(verbose_name="changed")),
            ],
            options={
                "verbose_name": "gate of top-ups",
                "verbose_name_plural": "gate of top-ups",
                "constraints": [
                    models.CheckConstraint(condition=Q(id=1), name="billing_top_up_gate_one_row")
                ],
            },
        ),
    ]
