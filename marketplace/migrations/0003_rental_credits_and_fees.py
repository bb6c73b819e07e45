from datetime import UTC, datetime

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("marketplace", "0002_server_day_guard")]

    operations = [
        migrations.AddField(
            model_name="deliverygap",
            name="noticed_at",
            field=models.DateTimeField(
                default=datetime(1970, 1, 1, tzinfo=UTC),
                help_text="When the site knew: the delays before an end run from here.",
                verbose_name="noticed",
            ),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="rentalhour",
            name="credit_seller_minor",
            field=models.BigIntegerField(default=0, verbose_name="seller's share given back"),
        ),
        migrations.AddField(
            model_name="rental",
            name="break_fee_net_minor",
            field=models.BigIntegerField(default=0, verbose_name="early end's fee, net"),
        ),
        migrations.AddField(
            model_name="rental",
            name="break_fee_vat_minor",
            field=models.BigIntegerField(default=0, verbose_name="VAT on the early end's fee"),
        ),
        migrations.AddField(
            model_name="rental",
            name="break_fee_seller_minor",
            field=models.BigIntegerField(default=0, verbose_name="seller's share of the fee"),
        ),
    ]
