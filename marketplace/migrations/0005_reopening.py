from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("marketplace", "0004_restart_indexes_and_cheapest_fit")]

    operations = [
        migrations.AddField(
            model_name="command",
            name="not_before",
            field=models.DateTimeField(
                blank=True,
                help_text="Waits for its number until then.",
                null=True,
                verbose_name="not before",
            ),
        ),
        migrations.AlterField(
            model_name="marketstate",
            name="state",
            field=models.CharField(
                choices=[
                    ("prelaunch", "Before launch"),
                    ("open", "Open"),
                    ("halted", "Halted"),
                    ("reopening", "Reopening"),
                ],
                max_length=10,
                verbose_name="state",
            ),
        ),
    ]
