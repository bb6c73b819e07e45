from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("marketplace", "0007_explain_suspensions_and_tell_of_matches"),
    ]

    operations = [
        migrations.AddField(
            model_name="deliverygap",
            name="customer_waits",
            field=models.BooleanField(
                default=False,
                help_text="The customer keeps the rental: the gap does not end it by itself.",
                verbose_name="customer waits",
            ),
        ),
    ]
