"""Programs sign in with ``Authorization: Token …``."""

from django.utils.translation import gettext_lazy as _
from knox.auth import TokenAuthentication as KnoxAuthentication
from rest_framework.exceptions import AuthenticationFailed

from marketplace.accounts.clock import now
from marketplace.accounts.models import ApiToken, User
from marketplace.accounts.operations.tokens import note_use
from marketplace.accounts.queries import membership_in


class TokenAuthentication(KnoxAuthentication):
    """Find the token by its beginning, compare its hash, and say why one is refused.

    Unlike Knox's own, it asks the market's clock, keeps expired tokens for their owner's list,
    and refuses a token whose owner has left the organisation.
    """

    def authenticate_credentials(self, token: bytes) -> tuple[User, ApiToken]:
        if not (token.isascii() and token.replace(b"_", b"").isalnum()):
            raise AuthenticationFailed(_("This token is not known: it is mistyped or revoked."))
        user, found = super().authenticate_credentials(token)  # type: ignore[no-untyped-call]  # Knox has no types
        assert isinstance(user, User)
        assert isinstance(found, ApiToken)
        return user, found

    def validate_user(self, auth_token: ApiToken) -> tuple[User, ApiToken]:
        moment = now()
        if auth_token.has_expired(moment):
            raise AuthenticationFailed(
                _("This token has expired. Make a new one in your settings.")
            )
        owner = auth_token.user
        assert isinstance(owner, User)
        member = membership_in(user_id=owner.pk, organisation_id=auth_token.organisation_id)
        if not owner.is_active or member is None:
            raise AuthenticationFailed(
                _("The owner of this token acts no more for its organisation.")
            )
        note_use(token=auth_token, now=moment)
        return owner, auth_token

    def _cleanup_token(self, auth_token: ApiToken) -> bool:
        """Remove nothing: an expired token stays on its owner's list, as expired."""
        return False
