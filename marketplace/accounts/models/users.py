"""Who signs in."""

from typing import ClassVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.contrib.auth.models import AbstractBaseUser, BaseUserManager, PermissionsMixin
from django.db import models
from django.db.models.functions import Lower, Now
from django.utils.translation import gettext_lazy as _

NAME_LENGTH = 120
EMAIL_LENGTH = 254


class Language(models.TextChoices):
    ENGLISH = "en", _("English")
    FRENCH = "fr", _("French")


class UserManager(BaseUserManager["User"]):
    def create_user(self, *, email: str, password: str | None = None, **fields: object) -> "User":
        user = self.model(email=self.normalize_email(email).lower(), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, *, email: str, password: str, **fields: object) -> "User":
        return self.create_user(
            email=email, password=password, is_staff=True, is_superuser=True, **fields
        )

    def get_by_natural_key(self, username: str | None) -> "User":
        return self.get(email__iexact=username or "")


class User(AbstractBaseUser, PermissionsMixin):
    """A person. The e-mail address is the login; money and orders belong to organisations."""

    email = models.EmailField(_("e-mail address"), max_length=EMAIL_LENGTH)
    name = models.CharField(_("name"), max_length=NAME_LENGTH, blank=True)
    language = models.CharField(
        _("language"), max_length=2, choices=Language.choices, default=Language.ENGLISH
    )
    time_zone = models.CharField(_("time zone"), max_length=64, default="Europe/Paris")
    is_staff = models.BooleanField(_("staff"), default=False)
    is_active = models.BooleanField(_("active"), default=True)
    joined_at = models.DateTimeField(_("joined"), db_default=Now(), editable=False)

    objects: ClassVar[UserManager] = UserManager()

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    class Meta:
        verbose_name = _("user")
        verbose_name_plural = _("users")
        constraints = [
            models.UniqueConstraint(
                Lower("email"),
                name="accounts_user_email_once",
                violation_error_message=_("This e-mail address has an account already."),
            ),
        ]

    def __str__(self) -> str:
        return f"user {self.pk}"

    @property
    def display_name(self) -> str:
        """How pages call the person; short enough for the name of their organisation."""
        return (self.name or self.email.partition("@")[0])[:NAME_LENGTH]

    @property
    def zone(self) -> ZoneInfo:
        """The zone of the person's pages and mails; UTC when its name is known no longer."""
        try:
            return ZoneInfo(self.time_zone)
        except (ZoneInfoNotFoundError, ValueError):
            return ZoneInfo("UTC")
