import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("billing", "0002_ledger_rules")]

    operations = [
        migrations.CreateModel(
            name="HoldMove",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("placed", "Held"),
                            ("repriced", "Held less"),
                            ("captured", "Taken"),
                            ("released", "Freed"),
                        ],
                        max_length=8,
                        verbose_name="kind",
                    ),
                ),
                ("amount_minor", models.BigIntegerField(verbose_name="amount")),
                ("occurred_at", models.DateTimeField(verbose_name="occurred")),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="hold_moves",
                        to="billing.account",
                    ),
                ),
                (
                    "hold",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="moves",
                        to="billing.hold",
                    ),
                ),
                (
                    "journal",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="hold_move",
                        to="billing.journal",
                    ),
                ),
            ],
            options={
                "verbose_name": "change of a hold",
                "verbose_name_plural": "changes of holds",
                "indexes": [
                    models.Index(fields=["account", "-id"], name="billing_hold_move_statement")
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=~Q(amount_minor=0), name="billing_hold_move_amount_not_zero"
                    ),
                    models.CheckConstraint(
                        condition=Q(kind="captured", journal__isnull=False)
                        | (~Q(kind="captured") & Q(journal__isnull=True)),
                        name="billing_hold_move_capture_has_journal",
                    ),
                ],
            },
        ),
    ]
