"""Forms of people: sign-up details, profile, keys."""

from django import forms
from django.http import HttpRequest

from marketplace.accounts.models import User


class SignupDetailsForm(forms.Form):
    """What sign-up asks beyond e-mail and password."""

    def signup(self, request: HttpRequest, user: User) -> None:
        """Keep the extra answers; called by allauth after the user is saved."""
