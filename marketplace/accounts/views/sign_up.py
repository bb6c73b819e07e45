"""Sign-up by allauth, as one transaction."""

from typing import Any

from allauth.account.views import SignupView
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse


class SignUp(SignupView):
    """Create the person, their address, their organisation and the mail together, or nothing."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            with transaction.atomic():
                return self._answer(request, *args, **kwargs)
        except IntegrityError:
            # The same address signed up at this very moment: now it exists, which allauth answers.
            return self._answer(request, *args, **kwargs)

    def _answer(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response = super().post(request, *args, **kwargs)
        assert isinstance(response, HttpResponse)
        return response


sign_up = SignUp.as_view()
