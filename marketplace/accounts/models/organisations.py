"""Who owns wallets, servers and orders."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower
from django.utils.translation import gettext_lazy as _


class OrganisationQuerySet(models.QuerySet["Organisation"]):
    def of_member(self, user_id: int) -> "OrganisationQuerySet":
        return self.filter(memberships__user_id=user_id)


class Organisation(models.Model):
    """An owner of wallets, servers and orders; people are its members."""

    class Kind(models.TextChoices):
        PERSON = "person", _("Person")
        COMPANY = "company", _("Company")

    name = models.CharField(_("name"), max_length=120)
    kind = models.CharField(_("kind"), max_length=8, choices=Kind.choices, default=Kind.PERSON)
    personal_of = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="personal_organisation",
        verbose_name=_("personal organisation of"),
    )
    is_frozen = models.BooleanField(
        _("frozen"),
        default=False,
        help_text=_("A frozen organisation places no order and buys no extension."),
    )
    created_at = models.DateTimeField(_("created"))

    objects = OrganisationQuerySet.as_manager()

    class Meta:
        verbose_name = _("organisation")
        verbose_name_plural = _("organisations")

    def __str__(self) -> str:
        return f"{self.name} ({self.pk})"


class Membership(models.Model):
    """A person's part in an organisation."""

    class Role(models.TextChoices):
        OWNER = "owner", _("Owner")
        TRADER = "trader", _("Trader")
        BILLING = "billing", _("Billing")
        VIEWER = "viewer", _("Viewer")

    organisation = models.ForeignKey(
        Organisation, on_delete=models.PROTECT, related_name="memberships"
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="memberships"
    )
    role = models.CharField(_("role"), max_length=8, choices=Role.choices)
    created_at = models.DateTimeField(_("created"))

    class Meta:
        verbose_name = _("membership")
        verbose_name_plural = _("memberships")
        constraints = [
            models.UniqueConstraint(
                fields=["organisation", "user"], name="accounts_membership_once"
            ),
            models.CheckConstraint(
                condition=Q(role__in=["owner", "trader", "billing", "viewer"]),
                name="accounts_membership_role_known",
            ),
        ]

    def __str__(self) -> str:
        return f"membership {self.pk}"

    @property
    def may_trade(self) -> bool:
        return self.role in {self.Role.OWNER, self.Role.TRADER}

    @property
    def may_pay(self) -> bool:
        return self.role in {self.Role.OWNER, self.Role.BILLING}


class Invitation(models.Model):
    """An owner's wish to have somebody as a member; becomes a membership when they accept.

    Consent matters: members of one organisation never trade with its relatives.
    """

    organisation = models.ForeignKey(
        Organisation, on_delete=models.PROTECT, related_name="invitations"
    )
    email = models.EmailField(_("e-mail address"), max_length=254)
    role = models.CharField(_("role"), max_length=8, choices=Membership.Role.choices)
    invited_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(_("created"))

    class Meta:
        verbose_name = _("invitation")
        verbose_name_plural = _("invitations")
        constraints = [
            models.UniqueConstraint(
                "organisation", Lower("email"), name="accounts_invitation_once"
            ),
            models.CheckConstraint(
                condition=Q(role__in=["owner", "trader", "billing", "viewer"]),
                name="accounts_invitation_role_known",
            ),
        ]
        indexes = [
            # The invitations of a person who opens the page of organisations.
            models.Index(Lower("email"), name="accounts_invitation_email"),
        ]

    def __str__(self) -> str:
        return f"invitation {self.pk}"
