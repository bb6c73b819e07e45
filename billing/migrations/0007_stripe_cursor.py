from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("billing", "0006_stripe_event_due")]

    operations = [
        migrations.CreateModel(
            name="StripeCursor",
            fields=[
                (
                    "id",
                    models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False),
                ),
                ("seen_until", models.DateTimeField(verbose_name="read up to")),
            ],
            options={
                "verbose_name": "cursor of Stripe events",
                "verbose_name_plural": "cursor of Stripe events",
                "constraints": [
                    models.CheckConstraint(condition=Q(id=1), name="billing_stripe_cursor_one_row")
                ],
            },
        ),
    ]
