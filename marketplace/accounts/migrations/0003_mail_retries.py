from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0002_append_only_audit")]

    operations = [
        migrations.AddField(
            model_name="mail",
            name="next_attempt_at",
            field=models.DateTimeField(blank=True, null=True, verbose_name="next attempt"),
        ),
    ]
