"""Who asks: the first call of a program that tries its token."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from marketplace.accounts.models import ApiToken, User
from marketplace.accounts.viewer import viewer_membership


class WhoAmIAnswer(serializers.Serializer[dict[str, Any]]):
    """The person, the organisation they act for, and what the token allows."""

    email = serializers.EmailField()
    organisation_id = serializers.IntegerField(allow_null=True)
    organisation = serializers.CharField(allow_null=True)
    token = serializers.CharField(allow_null=True)
    scopes = serializers.ListField(child=serializers.CharField())
    expires_at = serializers.DateTimeField(allow_null=True)


class WhoAmI(APIView):
    """Tell a program for whom it acts, and what it may do."""

    @extend_schema(responses=WhoAmIAnswer)
    def get(self, request: Request) -> Response:
        assert isinstance(request.user, User)
        token = request.auth if isinstance(request.auth, ApiToken) else None
        member = None if token else viewer_membership(request)
        organisation = token.organisation if token else member and member.organisation
        return Response(
            {
                "email": request.user.email,
                "organisation_id": organisation.pk if organisation else None,
                "organisation": organisation.name if organisation else None,
                "token": token.name if token else None,
                "scopes": token.scopes if token else [],
                "expires_at": token.expiry if token else None,
            }
        )
