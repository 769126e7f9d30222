"""Checking passwords, with limits for guesses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.contrib.auth import authenticate
from django.core.cache import cache
from django.http import HttpRequest

from atom.accounts.errors import BadCredentials, TooManyAttempts, TooManyGuesses
from atom.accounts.models import User
from atom.core.errors import Throttled
from atom.core.rate_limits import Limit, give_back, network_of, take

ATTEMPT_WINDOW_S = 300
# Wrong links and requests for mail from one address.
MAX_GUESSES = 30


def check_password(request: HttpRequest, username: str, password: str) -> User:
    """Return the user. Raises BadCredentials, or TooManyAttempts after too many failures."""
    with sign_in_attempt(request, username):
        user = authenticate(request, username=_as_written(username), password=password)
        if not isinstance(user, User):
            raise BadCredentials
    return user


def _as_written(username: str) -> str:
    """Return the name in its own capitals: keyboards of phones begin with a large letter.

    If several old names differ in capitals only, the name is returned as it was typed.
    """
    names = User.objects.filter(username__iexact=username).values_list("username", flat=True)
    alike = list(names[:2])
    return alike[0] if len(alike) == 1 else username


@contextmanager
def sign_in_attempt(request: HttpRequest, username: str) -> Iterator[None]:
    """Let one attempt pass; only one that fails is counted. Raises TooManyAttempts.

    It is taken first and given back on success, so that attempts made at once are counted too.
    """
    limits = (
        limit_of_address(request),
        Limit("sign-in-name", username.casefold(), settings.ATOM_RATE_SIGN_IN_NAME),
    )
    with counted_attempt(*limits):
        yield


def limit_of_address(request: HttpRequest) -> Limit:
    """Return the limit of failures from where a request comes."""
    address = network_of(request.META.get("REMOTE_ADDR", ""))
    return Limit("sign-in-address", address, settings.ATOM_RATE_SIGN_IN_ADDRESS)


@contextmanager
def counted_attempt(*limits: Limit, refusal: type[Throttled] = TooManyAttempts) -> Iterator[None]:
    """Let one attempt pass within the limits; only one that fails counts. Raises `refusal`."""
    standing = take(*limits)
    if standing is not None and not standing.is_allowed:
        wait_s = standing.wait_s
        headers = {**standing.as_headers(), "Retry-After": str(wait_s)}
        raise refusal(headers=headers, retry_after_s=wait_s)
    yield
    if standing is not None:
        give_back(*limits)


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
