"""One's own second factor."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.actions.second_factor import (
    Proof,
    begin,
    confirm,
    renew_recovery_codes,
    turn_off,
)
from atom.accounts.api.mixins import user_of
from atom.accounts.api.sign_in_views import MAX_CODE, CodeSerializer
from atom.accounts.authentication import SessionAuthentication
from atom.accounts.models import RecoveryCode, SecondFactor, User
from atom.accounts.permissions import demands_second_factor
from atom.core.bodies import check
from atom.core.names import TextField


class SecondFactorSerializer(serializers.Serializer[Any]):
    """Whether codes are asked of the caller."""

    is_on = serializers.BooleanField()
    confirmed_at = serializers.DateTimeField(allow_null=True)
    recovery_codes_left = serializers.IntegerField()
    is_demanded = serializers.BooleanField()
    has_password = serializers.BooleanField()


class ProofSerializer(serializers.Serializer[Any]):
    """The password, or a code; an account with neither password nor second factor sends none."""

    password = serializers.CharField(
        max_length=1000, trim_whitespace=False, write_only=True, required=False
    )
    code = TextField(max_length=MAX_CODE, write_only=True, required=False)


class OfferSerializer(serializers.Serializer[Any]):
    """A new secret for an authenticator app, to scan or to type."""

    secret = serializers.CharField()
    uri = serializers.CharField()
    picture = serializers.CharField(help_text="A QR code as a data: address.")


class RecoveryCodesSerializer(serializers.Serializer[Any]):
    """Codes that are shown this once."""

    recovery_codes = serializers.ListField(child=serializers.CharField())


class _OwnView(APIView):
    """For sessions only: programs have tokens, and no second factor."""

    authentication_classes = (SessionAuthentication,)
    is_before_second_factor = True

    def proof(self, request: Request) -> Proof:
        """Return what the caller shows."""
        body = ProofSerializer(data=request.data)
        check(body)
        return Proof(**body.validated_data)


class SecondFactorView(_OwnView):
    """The second factor itself."""

    @extend_schema(responses=SecondFactorSerializer, operation_id="second_factor_retrieve")
    def get(self, request: Request) -> Response:
        """Say whether there is one."""
        return Response(_state(user_of(request)))

    @extend_schema(
        request=ProofSerializer, responses=OfferSerializer, operation_id="second_factor_begin"
    )
    def post(self, request: Request) -> Response:
        """Offer a new secret. It counts when a code has confirmed it; until then the old one."""
        offer = begin(request._request, user_of(request), self.proof(request))
        return Response(vars(offer))


class ConfirmView(_OwnView):
    """The end of setting one up."""

    @extend_schema(
        request=CodeSerializer, responses=RecoveryCodesSerializer, operation_id="second_factor_on"
    )
    def post(self, request: Request) -> Response:
        """Take the secret into force; all other sessions end. Recovery codes are shown once."""
        body = CodeSerializer(data=request.data)
        check(body)
        made = confirm(request._request, user_of(request), body.validated_data["code"])
        return Response({"recovery_codes": made})


class RecoveryCodesView(_OwnView):
    """The recovery codes."""

    @extend_schema(
        request=ProofSerializer,
        responses=RecoveryCodesSerializer,
        operation_id="recovery_codes_renew",
    )
    def post(self, request: Request) -> Response:
        """Make new ones, shown once; the old ones are worthless."""
        made = renew_recovery_codes(request._request, user_of(request), self.proof(request))
        return Response({"recovery_codes": made})


class OffView(_OwnView):
    """The end of a second factor."""

    @extend_schema(request=ProofSerializer, responses={204: None}, operation_id="second_factor_off")
    def post(self, request: Request) -> Response:
        """Turn it off."""
        turn_off(request._request, user_of(request), self.proof(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


def _state(user: User) -> dict[str, Any]:
    found = SecondFactor.objects.filter(user=user, confirmed_at__isnull=False).first()
    return {
        "is_on": found is not None,
        "confirmed_at": found and found.confirmed_at,
        "recovery_codes_left": RecoveryCode.objects.filter(user=user, used_at=None).count(),
        "is_demanded": demands_second_factor(user),
        "has_password": user.has_usable_password(),
    }
