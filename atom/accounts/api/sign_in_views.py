"""Signing in with a password, and with a code where the account has a second factor."""

from __future__ import annotations

from typing import Any

from django.http import JsonResponse
from django.utils.decorators import method_decorator
from django.views.decorators.csrf import csrf_protect
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts.actions.second_factor import check_code
from atom.accounts.actions.signing_in import check_password
from atom.accounts.api.serializers import UserSerializer
from atom.accounts.api.sign_in import PENDING, ask_for_code, awaited, let_in, needs_code
from atom.accounts.errors import SecondFactorRequired
from atom.core.bodies import check
from atom.core.names import TextField
from atom.core.problems import problem_response

MAX_CODE = 40


class LoginSerializer(serializers.Serializer[Any]):
    """A name and a password."""

    username = TextField(max_length=150)
    password = TextField(max_length=1000, trim_whitespace=False, write_only=True)


class CodeSerializer(serializers.Serializer[Any]):
    """A code that the authenticator shows, or a recovery code."""

    code = TextField(max_length=MAX_CODE, write_only=True)


@method_decorator(csrf_protect, name="dispatch")
class LoginView(APIView):
    """Signing in with a password."""

    permission_classes = (AllowAny,)
    authentication_classes = ()

    @extend_schema(request=LoginSerializer, responses=UserSerializer, operation_id="login")
    def post(self, request: Request) -> Response | JsonResponse:
        """Start a session. After too many failures the answer is 429, with the time to wait.

        Where the account has a second factor it is 401 with the code `second_factor_required` and
        a cookie, with which `auth/login/code/` takes the code.
        """
        body = LoginSerializer(data=request.data)
        check(body)
        user = check_password(
            request._request, body.validated_data["username"], body.validated_data["password"]
        )
        if needs_code(user):
            refusal = problem_response(SecondFactorRequired(), request._request)
            ask_for_code(refusal, user)
            return refusal
        let_in(request._request, user)
        return Response(UserSerializer(user).data)


@method_decorator(csrf_protect, name="dispatch")
class LoginCodeView(APIView):
    """The second step of signing in."""

    permission_classes = (AllowAny,)
    authentication_classes = ()

    @extend_schema(request=CodeSerializer, responses=UserSerializer, operation_id="login_code")
    def post(self, request: Request) -> Response:
        """Start the session for which the first step was made in this browser."""
        body = CodeSerializer(data=request.data)
        check(body)
        user, by_provider = awaited(request._request)
        check_code(request._request, user, body.validated_data["code"])
        let_in(request._request, user, "code", by_provider=by_provider)
        response = Response(UserSerializer(user).data)
        PENDING.forget(response)
        return response
