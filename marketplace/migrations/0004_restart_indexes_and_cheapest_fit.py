import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("marketplace", "0003_rental_credits_and_fees")]

    operations = [
        migrations.AddField(
            model_name="decision",
            name="cheapest_fit",
            field=models.ForeignKey(
                blank=True,
                help_text=(
                    "The offer that would have served the bid, had its limit been high enough."
                ),
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="marketplace.offer",
            ),
        ),
        migrations.AddIndex(
            model_name="command",
            index=models.Index(
                condition=models.Q(("kind", "change_server"), ("sequence__isnull", False)),
                fields=["server", "-sequence"],
                name="marketplace_command_server",
            ),
        ),
        migrations.AddIndex(
            model_name="command",
            index=models.Index(
                condition=models.Q(("kind", "set_market_state"), ("sequence__isnull", False)),
                fields=["sequence"],
                name="marketplace_command_state",
            ),
        ),
    ]
