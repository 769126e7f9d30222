"""Long polls: a view says what its answer waits for, and `atom.web.long_poll` does the waiting.

A view that is asked under an address that ends in `/wait/` answers at once, as every other. If the
thing is not over, the view also leaves an `Awaited` for the web process. The web process then holds
the answer back, without a thread or a database connection, until a live event reports a new state,
and asks the view again. So each look is authorized, and a token that was revoked meanwhile ends the
wait.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import redis
import structlog
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from atom.core.errors import Invalid, Throttled
from atom.core.redis import client
from atom_sdk.sentences import Sentence

log = structlog.get_logger(__name__)

DEFAULT_TIMEOUT_S: Final = 30
MAX_TIMEOUT_S: Final = 300
# Limit for one token, or for all sessions of one person together.
MAX_WAITERS: Final = 20
# The key of the ASGI scope under which the web process leaves a list for the view.
SCOPE: Final = "atom.awaited"
# The places of a killed process expire this long after a wait would have ended.
_PLACE_KEPT_S: Final = MAX_TIMEOUT_S + 30

TIMEOUT = OpenApiParameter(
    "timeout_s",
    {"type": "integer", "minimum": 0, "maximum": MAX_TIMEOUT_S, "default": DEFAULT_TIMEOUT_S},
    description="How long the answer may be held back. It comes at once when the state is final; "
    "at the timeout it shows the state as it is then.",
)

_ENTER = """
local now = tonumber(redis.call('TIME')[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then return 0 end
redis.call('ZADD', KEYS[1], now + tonumber(ARGV[3]), ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[3])
return 1
"""


class TooManyWaits(Throttled):
    """The token has reached its limit of open waits."""

    code = "too_many_waits"
    title = "Too many requests of this token wait at the same time."
    action = "Let some of them end first, or read the states from one list instead."


@dataclass(frozen=True)
class Awaited:
    """A wait for an event of `group` about the object `id` with another `state`."""

    group: str
    id: str
    state: str
    who: str
    timeout_s: int


def hold_back(request: Request, group: str, thing_id: object, state: str) -> None:
    """Have the answer to this request wait until the thing is no longer in `state`.

    Only in the web process: elsewhere (tests, other servers) the answer goes out at once.
    """
    timeout_s = parse_timeout(request)
    places = getattr(request._request, "scope", {}).get(SCOPE)
    if places is not None and timeout_s:
        who = str(getattr(request.auth, "pk", None) or request.user.pk)
        places.append(Awaited(group, str(thing_id), state, who, timeout_s))


def parse_timeout(request: Request) -> int:
    """Return the parameter `timeout_s`. Raises Invalid when it is no whole number in range."""
    text = request.query_params.get("timeout_s", str(DEFAULT_TIMEOUT_S))
    if not (text.isascii() and text.isdecimal()) or len(text) > 9 or int(text) > MAX_TIMEOUT_S:
        raise Invalid(
            errors={
                "timeout_s": [
                    Sentence(
                        "core.seconds_invalid",
                        "Give whole seconds from 0 to {max}.",
                        max=MAX_TIMEOUT_S,
                    )
                ]
            }
        )
    return int(text)


def enter(who: str, member: str) -> None:
    """Take one of the places of `who`. Raises TooManyWaits; a Valkey that is away lets pass."""
    try:
        script: Any = client().register_script(_ENTER)
        taken = script(keys=[_key(who)], args=[member, MAX_WAITERS, _PLACE_KEPT_S])
    except redis.RedisError as error:
        log.warning("waiters_not_counted", error=str(error))
        return
    if not taken:
        said = Sentence(
            "core.too_many_waits",
            "At most {max} requests of one token or person wait at a time.",
            max=MAX_WAITERS,
        )
        raise TooManyWaits(said, headers={"Retry-After": "5"}, retry_after_s=5)


def leave(who: str, member: str) -> None:
    """Give the place back."""
    try:
        client().zrem(_key(who), member)
    except redis.RedisError as error:
        log.warning("waiter_not_forgotten", error=str(error))


def _key(who: str) -> str:
    return f"waiters:{who}"
