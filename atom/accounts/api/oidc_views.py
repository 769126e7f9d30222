"""Signing in through the provider of single sign-on: there, and back with a code."""

from __future__ import annotations

import hmac
from typing import Any, Final
from urllib.parse import urlencode

import structlog
from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.utils.http import url_has_allowed_host_and_scheme
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from atom.accounts import oidc
from atom.accounts.actions.single_sign_on import sign_in_as
from atom.accounts.api.sealed_cookies import SealedCookie
from atom.accounts.api.sign_in import ask_for_code, let_in, needs_code
from atom.accounts.errors import SingleSignOnFailed
from atom.core.errors import NotFound

log = structlog.get_logger(__name__)

_VISIT: Final = SealedCookie("atom_oidc", "/api/v1/auth/oidc/", 900)
_NEXT_CHARS = 2000


class SingleSignOnSerializer(serializers.Serializer[Any]):
    """Whether there is a provider, and what to call it."""

    is_on = serializers.BooleanField()
    provider = serializers.CharField(help_text="Empty where the portal's own words do.")


class _OutsideView(APIView):
    permission_classes = (AllowAny,)
    authentication_classes = ()


class OptionsView(_OutsideView):
    """The single sign-on that the sign-in page offers."""

    @extend_schema(responses=SingleSignOnSerializer, operation_id="single_sign_on_retrieve")
    def get(self, request: Request) -> Response:
        """Say whether one can sign in through a provider."""
        return Response({"is_on": settings.ATOM_OIDC.is_on, "provider": settings.ATOM_OIDC.label})


class StartView(_OutsideView):
    """The way to the provider."""

    @extend_schema(exclude=True)
    def get(self, request: Request) -> HttpResponseBase:
        """Send the browser there; it keeps what its way back is checked by."""
        if not settings.ATOM_OIDC.is_on:
            raise NotFound
        target = safe_next(request.query_params.get("next", ""))
        try:
            start = oidc.begin()
        except SingleSignOnFailed as failed:
            return _refuse(failed, target)
        response = HttpResponseRedirect(start.url)
        kept = {"state": start.state, "nonce": start.nonce, "verifier": start.verifier}
        _VISIT.put(response, {**kept, "next": target})
        return response


class CallbackView(_OutsideView):
    """The way back."""

    @extend_schema(exclude=True)
    def get(self, request: Request) -> HttpResponseBase:
        """Begin a session, ask for a code, or go back to the sign-in page, which says why."""
        if not settings.ATOM_OIDC.is_on:
            raise NotFound
        kept = _VISIT.take(request._request) or {}
        target = kept.get("next", "/")
        try:
            response = _arrive(request._request, kept, target)
        except SingleSignOnFailed as failed:
            response = _refuse(failed, target)
        _VISIT.forget(response)
        return response


def safe_next(path: str) -> str:
    """Return a path of this site: what anybody may write into a link leads nowhere else."""
    if len(path) > _NEXT_CHARS or not path.startswith("/"):
        return "/"
    return path if url_has_allowed_host_and_scheme(path, allowed_hosts=None) else "/"


def _arrive(request: HttpRequest, kept: dict[str, Any], target: str) -> HttpResponseBase:
    state = request.GET.get("state", "")
    known = str(kept.get("state", ""))
    if not known or not hmac.compare_digest(known.encode(), state.encode(errors="replace")):
        raise SingleSignOnFailed("sso_over")
    # A callback works once: the same address again, from the history say, is refused.
    if not cache.add(f"oidc-visit:{known}", 1, _VISIT.lasts_s):
        raise SingleSignOnFailed("sso_over")
    if "error" in request.GET:
        denied = request.GET["error"] == "access_denied"
        raise SingleSignOnFailed("sso_denied" if denied else "sso_provider", request.GET["error"])
    claims = oidc.finish(request.GET.get("code", ""), kept["verifier"], kept["nonce"])
    user = sign_in_as(claims)
    if needs_code(user) and not claims.has_second_factor:
        response = HttpResponseRedirect(f"/login?{urlencode({'step': 'code', 'next': target})}")
        ask_for_code(response, user, by_provider=True)
        return response
    let_in(request, user, "provider" if claims.has_second_factor else "", by_provider=True)
    return HttpResponseRedirect(target)


def _refuse(failed: SingleSignOnFailed, target: str) -> HttpResponseBase:
    log.warning("single_sign_on_failed", reason=failed.reason, detail=str(failed)[:300])
    return HttpResponseRedirect(f"/login?{urlencode({'failed': failed.reason, 'next': target})}")
