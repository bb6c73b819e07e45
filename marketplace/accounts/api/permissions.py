"""What a token lets a program do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _
from rest_framework.permissions import SAFE_METHODS, IsAuthenticated
from rest_framework.request import Request

from marketplace.accounts.models import ApiToken, Scope
from marketplace.accounts.queries import membership_in

if TYPE_CHECKING:
    # REST framework reads this module while it makes its views.
    from rest_framework.views import APIView


class HasScope(IsAuthenticated):
    """Let in people who are signed in, and tokens whose scopes cover the act.

    Reading wants ``read``. A view that changes something names what it wants in ``write_scope``;
    one that names nothing takes no token. Whoever lost the role lost it for their tokens too.
    """

    message = _("This token lacks the scope that this act needs.")

    def has_permission(self, request: Request, view: APIView) -> bool:
        if not super().has_permission(request, view):
            return False
        token = request.auth
        if not isinstance(token, ApiToken):
            return True
        if request.method in SAFE_METHODS:
            return Scope.READ in token.scopes
        needed = getattr(view, "write_scope", None)
        member = membership_in(user_id=token.user_id, organisation_id=token.organisation_id)
        return needed in token.scopes and member is not None and member.may_trade
