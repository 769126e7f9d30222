"""The end of every way to sign in: at once, or after a code of the second factor."""

from __future__ import annotations

from typing import Final

from django.conf import settings
from django.contrib.auth import login
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from atom.accounts.actions.second_factor import has_second_factor
from atom.accounts.actions.sessions import note_sign_in
from atom.accounts.api.sealed_cookies import SealedCookie
from atom.accounts.errors import SignInOver
from atom.accounts.models import User
from atom.accounts.permissions import PROOF

# Key in sessions that began through a provider of single sign-on.
BY_PROVIDER: Final = "by_provider"
PENDING: Final = SealedCookie("atom_sign_in", "/api/v1/auth/login/", 600)


def needs_code(user: User) -> bool:
    """Return whether this person signs in with a code too."""
    return has_second_factor(user)


def ask_for_code(response: HttpResponseBase, user: User, *, by_provider: bool = False) -> None:
    """Have the browser remember for whom a code is awaited."""
    # The hash depends on the password: a sign-in that began with an old password ends.
    known = {"user": str(user.pk), "hash": user.get_session_auth_hash()}
    PENDING.put(response, {**known, "by_provider": by_provider})


def awaited(request: HttpRequest) -> tuple[User, bool]:
    """Return for whom a code is awaited, and whether a provider sent them. Raises SignInOver."""
    kept = PENDING.take(request)
    user = User.objects.filter(pk=kept["user"], is_active=True).first() if kept else None
    if kept is None or user is None or kept["hash"] != user.get_session_auth_hash():
        raise SignInOver
    return user, kept["by_provider"]


def let_in(request: HttpRequest, user: User, proof: str = "", *, by_provider: bool = False) -> None:
    """Begin a session; `proof` is what stood for a second factor."""
    # Django keeps the key if the person stays the same. A thief of the old key would then also
    # have a session with the second factor.
    request.session.flush()
    login(request, user)
    note_sign_in(request, user)
    if proof:
        request.session[PROOF] = proof
    if by_provider:
        request.session[BY_PROVIDER] = True
        # The provider does not report people who leave, so their sessions must end by themselves.
        request.session.set_expiry(settings.ATOM_OIDC.session_s)
