"""How allauth meets our accounts."""

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.core.mail import EmailMessage
from django.db import transaction
from django.forms import BaseForm
from django.http import HttpRequest
from django.shortcuts import resolve_url
from django.urls import NoReverseMatch, reverse
from django.utils.translation import get_language, override
from django.utils.translation import gettext_lazy as _

from marketplace.accounts.clock import now
from marketplace.accounts.mail import compose_mail
from marketplace.accounts.models import Language, User
from marketplace.accounts.operations.audit import record_act
from marketplace.accounts.operations.legal import accept_terms
from marketplace.accounts.operations.people import create_personal_organisation


class AccountAdapter(DefaultAccountAdapter):
    """Sign-up and sign-in in our words."""

    @transaction.atomic
    def save_user(
        self,
        request: HttpRequest,
        user: AbstractBaseUser,
        form: BaseForm,
        commit: bool = True,  # noqa: FBT001, FBT002  allauth's signature
    ) -> AbstractBaseUser:
        """Keep a new person, in the language of the page, with the organisation they act for."""
        assert isinstance(user, User)
        user.language = page_language()
        saved = super().save_user(request, user, form, commit)
        moment = now()
        create_personal_organisation(user=user, now=moment)
        # The form refuses whoever does not tick the box.
        accept_terms(user_id=user.pk, shown=None, language=user.language, now=moment)
        return saved

    def get_login_redirect_url(self, request: HttpRequest) -> str:
        """Go on in the person's own language."""
        user = request.user
        with override(user.language if isinstance(user, User) else page_language()):
            return page_or(settings.LOGIN_REDIRECT_URL, reverse("accounts:profile"))

    def get_signup_redirect_url(self, request: HttpRequest) -> str:
        return self.get_login_redirect_url(request)

    def get_logout_redirect_url(self, request: HttpRequest) -> str:
        return page_or(settings.LOGOUT_REDIRECT_URL, reverse("account_login"))

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Write in the language of who reads, which is not always that of who asked."""
        reader = User.objects.filter(email__iexact=email).first()
        with override(reader.language if reader else page_language()):
            super().send_mail(template_prefix, email, context | {"site_name": settings.SITE_NAME})

    def render_mail(
        self,
        template_prefix: str,
        email: str | list[str],
        context: dict[str, Any],
        headers: dict[str, str] | None = None,
    ) -> EmailMessage:
        """Write the mail in our two forms."""
        assert isinstance(email, str), "each of our mails goes to one address"
        return compose_mail(to=email, template=template_prefix, context=context)

    def send_notification_mail(
        self,
        template_prefix: str,
        user: AbstractBaseUser,
        context: dict[str, Any] | None = None,
        email: str | None = None,
    ) -> None:
        """Tell a person that their way in has changed, and write it down.

        allauth calls this after each change of password, address or second factor.
        """
        record_act(
            actor_id=user.pk,
            organisation_id=None,
            action=f"access.{template_prefix.rpartition('/')[2]}",
            object_type="user",
            object_id=user.pk,
            now=now(),
        )
        super().send_notification_mail(template_prefix, user, context, email)


class MfaAdapter(DefaultMFAAdapter):
    """Second factors, named after the site."""

    error_messages = DefaultMFAAdapter.error_messages | {
        "cannot_delete_authenticator": _(
            "Members of the staff need a second factor. Add another one before you remove this."
        ),
    }

    def get_totp_issuer(self) -> str:
        return str(settings.SITE_NAME)

    def build_totp_svg(self, url: str) -> str:
        """Draw the code on white: a camera reads it in the dark theme too."""
        head, path, rest = super().build_totp_svg(url).partition("<path")
        assert path, "the picture is one path"
        return f'{head}<rect width="100%" height="100%" fill="#fff"/>{path}{rest}'

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        return super().get_public_key_credential_rp_entity() | {"name": str(settings.SITE_NAME)}

    def can_delete_authenticator(self, authenticator: Authenticator) -> bool:
        """Refuse to take the last second factor from a member of the staff."""
        if not authenticator.user.is_staff:
            return True
        others = Authenticator.objects.filter(user=authenticator.user).exclude(pk=authenticator.pk)
        return bool(others.exclude(type=Authenticator.Type.RECOVERY_CODES).exists())


def display_name(user: User) -> str:
    """Name a person on allauth's pages."""
    return user.display_name


def page_language() -> str:
    language = get_language()
    return language if language in Language.values else Language.ENGLISH


def page_or(name: str, other: str) -> str:
    """Return the address of a named page, or another one while the page does not exist."""
    try:
        return resolve_url(name)
    except NoReverseMatch:
        return other
