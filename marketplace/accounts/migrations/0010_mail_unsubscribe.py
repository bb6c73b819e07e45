from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0009_contact_messages"),
    ]

    operations = [
        migrations.AddField(
            model_name="mail",
            name="unsubscribe_url",
            field=models.CharField(
                blank=True,
                default="",
                help_text="Where a mail program switches such mails off.",
                max_length=300,
                verbose_name="unsubscribe address",
            ),
        ),
    ]
