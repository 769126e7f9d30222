"""API tokens (`Authorization: Bearer atom_<prefix>_<secret>`) and the portal's sessions."""

from __future__ import annotations

import hmac
from datetime import timedelta
from typing import cast

from django.db.models import Q
from django.db.models.functions import Now
from django.http import HttpRequest
from django.utils import timezone
from rest_framework import authentication
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request

from atom.accounts.errors import BadToken, SecondFactorMissing
from atom.accounts.models import ApiToken, User
from atom.accounts.permissions import lacks_second_factor
from atom.core.crypto import hash_token
from atom.core.errors import CsrfFailed
from atom.core.prepared_queries import Prepared

PREFIX = "atom"
# Writing the time of every request would make each read a write.
_LAST_USED_STEP = timedelta(minutes=1)
_LIVE = Prepared(
    lambda prefix: ApiToken.objects.select_related("user").filter(
        Q(expires_at=None) | Q(expires_at__gt=Now()),
        prefix=prefix,
        revoked_at=None,
        user__is_active=True,
    )[:1],
    str,
)


class SessionAuthentication(authentication.SessionAuthentication):
    """Authenticates the portal."""

    def authenticate(self, request: Request) -> tuple[User, None] | None:
        """Return the session's user. Raises SecondFactorMissing where one has to be set up first.

        A view says by `is_before_second_factor` that it is needed for that.
        """
        found = super().authenticate(request)
        if found is None:
            return None
        user = cast(User, found[0])
        view = (request.parser_context or {}).get("view")
        if not getattr(view, "is_before_second_factor", False) and lacks_second_factor(
            user, request._request.session
        ):
            raise SecondFactorMissing
        return user, None

    def enforce_csrf(self, request: Request) -> None:
        """Raise CsrfFailed for a write that another site may have caused."""
        try:
            super().enforce_csrf(request)
        except PermissionDenied as refused:
            raise CsrfFailed(str(refused.detail)) from refused


class TokenAuthentication(BaseAuthentication):
    """Authenticates programs; `request.auth` is the ApiToken."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        """Return the token's owner; None without a token. Raises BadToken."""
        text = bearer_of(request)
        if text is None:
            return None
        token = carried_token(request._request)
        if token is None:
            raise BadToken(headers={"WWW-Authenticate": self.authenticate_header(request)})
        _note_use(token)
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        """Return the challenge of a 401 answer."""
        return 'Bearer realm="atom"'


def bearer_of(request: Request | HttpRequest) -> str | None:
    """Return the bearer credential of the request, if it carries one."""
    # The cast is safe: the function reads only META, which both kinds of request have.
    parts = get_authorization_header(cast(Request, request)).split()
    if len(parts) != 2 or parts[0].lower() != b"bearer":
        return None
    return parts[1].decode("latin-1")


def carried_token(request: HttpRequest) -> ApiToken | None:
    """Return the live API token that a request carries; it is looked up once."""
    known: dict[str, ApiToken | None] = request.__dict__.setdefault("_carried_token", {})
    text = bearer_of(request) or ""
    if text not in known:
        known[text] = find_token(text)
    return known[text]


def find_token(text: str) -> ApiToken | None:
    """Return the live token that `text` spells, in time that does not depend on the secret."""
    kind, _, rest = text.partition("_")
    prefix, _, secret = rest.partition("_")
    if kind != PREFIX:
        return None
    token = _LIVE.first(prefix)
    if token is None or not hmac.compare_digest(token.secret_hash, hash_token(secret)):
        return None
    return token


def _note_use(token: ApiToken) -> None:
    # This machine's clock is good enough here: at worst the recorded time is older.
    if token.last_used_at is None or abs(timezone.now() - token.last_used_at) > _LAST_USED_STEP:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=Now())
