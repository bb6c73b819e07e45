"""How allauth meets our accounts."""

from allauth.account.adapter import DefaultAccountAdapter
from allauth.mfa.adapter import DefaultMFAAdapter
from django.conf import settings


class AccountAdapter(DefaultAccountAdapter):
    """Sign-up and sign-in in our words."""


class MfaAdapter(DefaultMFAAdapter):
    """Second factors, named after the site."""

    def get_totp_issuer(self) -> str:
        return str(settings.SITE_NAME)
