import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import F
from django.db.models.functions import Now


def explain_and_leave_untold(apps, _schema_editor):
    """Nobody is told again of what is past; when a suspension began was not noted so far."""
    apps.get_model("marketplace", "Bid").objects.filter(status="expired").update(
        expiry_told_at=F("closed_at")
    )
    apps.get_model("marketplace", "Fill").objects.update(told_at=F("occurred_at"))
    apps.get_model("marketplace", "Server").objects.filter(is_suspended=True).update(
        suspended_at=Now(), suspension="staff"
    )


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0004_invitations"),
        ("catalog", "0001_initial"),
        ("marketplace", "0006_tell_checks_and_find_unsettled_hours"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="bid",
            name="expiry_told_at",
            field=models.DateTimeField(
                blank=True,
                help_text="When the mail was written.",
                null=True,
                verbose_name="expiry told",
            ),
        ),
        migrations.AddField(
            model_name="fill",
            name="told_at",
            field=models.DateTimeField(
                blank=True, help_text="When the mails were written.", null=True, verbose_name="told"
            ),
        ),
        migrations.AddField(
            model_name="server",
            name="suspended_after",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="marketplace.rental",
                verbose_name="suspended after",
            ),
        ),
        migrations.AddField(
            model_name="server",
            name="suspended_at",
            field=models.DateTimeField(blank=True, null=True, verbose_name="suspended since"),
        ),
        migrations.AddField(
            model_name="server",
            name="suspension",
            field=models.CharField(
                blank=True,
                choices=[
                    ("not_delivered", "A sold machine was not delivered in time."),
                    ("failure", "A rental ended because its machine could not be used."),
                    ("staff", "Our staff suspended it."),
                ],
                max_length=13,
                verbose_name="suspension",
            ),
        ),
        migrations.RunPython(explain_and_leave_untold, migrations.RunPython.noop),
        migrations.AddIndex(
            model_name="bid",
            index=models.Index(
                condition=models.Q(("expiry_told_at__isnull", True), ("status", "expired")),
                fields=["id"],
                name="marketplace_bid_untold",
            ),
        ),
        migrations.AddIndex(
            model_name="command",
            index=models.Index(
                condition=models.Q(
                    ("kind", "release_hours"),
                    ("payload__has_key", "ceiling_micro"),
                    ("sequence__isnull", False),
                ),
                fields=["server"],
                name="marketplace_command_ceiling",
            ),
        ),
        migrations.AddIndex(
            model_name="command",
            index=models.Index(
                condition=models.Q(("idempotency_key__isnull", False)),
                fields=["placed_at"],
                name="marketplace_command_keyed",
            ),
        ),
        migrations.AddIndex(
            model_name="fill",
            index=models.Index(
                condition=models.Q(("told_at__isnull", True)),
                fields=["id"],
                name="marketplace_fill_untold",
            ),
        ),
        migrations.AddConstraint(
            model_name="server",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("is_suspended", False), ("suspended_at__isnull", True), ("suspension", "")
                    ),
                    models.Q(
                        ("is_suspended", True),
                        ("suspended_at__isnull", False),
                        models.Q(("suspension", ""), _negated=True),
                    ),
                    _connector="OR",
                ),
                name="marketplace_server_suspension_is_explained",
            ),
        ),
    ]
