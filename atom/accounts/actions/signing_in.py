"""Passwords at the door, and how often one may guess."""

from __future__ import annotations

from django.contrib.auth import authenticate
from django.core.cache import cache
from django.http import HttpRequest

from atom.accounts.errors import BadCredentials, TooManyAttempts, TooManyGuesses
from atom.accounts.models import User

# Ten wrong passwords for one name from one address, then a pause.
MAX_ATTEMPTS = 10
ATTEMPT_WINDOW_S = 300
# Wrong links and requests for mail from one address.
MAX_GUESSES = 30


def check_password(request: HttpRequest, username: str, password: str) -> User:
    """Return the user. Raises BadCredentials, or TooManyAttempts after ten failures."""
    address = request.META.get("REMOTE_ADDR", "")
    key = f"login:{address}:{username.lower()}"[:200]
    attempts = int(cache.get(key, 0))
    if attempts >= MAX_ATTEMPTS:
        wait_s = ATTEMPT_WINDOW_S
        raise TooManyAttempts(headers={"Retry-After": str(wait_s)}, retry_after_s=wait_s)
    user = authenticate(request, username=username, password=password)
    if not isinstance(user, User):
        cache.set(key, attempts + 1, ATTEMPT_WINDOW_S)
        raise BadCredentials
    cache.delete(key)
    return user


def refuse_guessing(request: HttpRequest) -> None:
    """Raise TooManyGuesses when one address has guessed too often."""
    if int(cache.get(_guesses_of(request), 0)) >= MAX_GUESSES:
        wait_s = ATTEMPT_WINDOW_S
        raise TooManyGuesses(headers={"Retry-After": str(wait_s)}, retry_after_s=wait_s)


def note_guess(request: HttpRequest) -> None:
    """Count what may be a guess; each address has a few in five minutes."""
    key = _guesses_of(request)
    # Two steps that each happen whole: two guesses at once count as two.
    cache.add(key, 0, ATTEMPT_WINDOW_S)
    try:
        cache.incr(key)
    except ValueError:
        cache.set(key, 1, ATTEMPT_WINDOW_S)


def _guesses_of(request: HttpRequest) -> str:
    return f"guess:{request.META.get('REMOTE_ADDR', '')}"
