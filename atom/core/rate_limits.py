"""How often one caller may do something: counted in Valkey, one round trip for each question.

The generic cell rate algorithm: of each caller Valkey keeps one time, at which what was taken
will be paid back, for as long as that lies ahead. Valkey's clock counts, so that all web processes
agree.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from ipaddress import IPv6Address, ip_address
from typing import cast

import redis
import structlog
from django.conf import settings
from redis.backoff import NoBackoff
from redis.commands.core import Script
from redis.exceptions import RedisError
from redis.retry import Retry

from atom.settings.rates import Rate

log = structlog.get_logger(__name__)

# While Valkey is away, only one request in this time tries it.
_ASKED_AGAIN_AFTER_S = 5.0
# An IPv6 subscriber has at least this network to himself.
_IPV6_BITS = 64

# All or nothing: a refused request takes from none of the keys. A negative count gives back.
_TAKE = """
local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000000 + tonumber(clock[2])
local count = tonumber(ARGV[1])
local after, answer, wait = {}, {}, 0
for i, key in ipairs(KEYS) do
  local interval, burst = tonumber(ARGV[2 * i]), tonumber(ARGV[2 * i + 1])
  local owed = math.max(0, tonumber(redis.call('GET', key) or '0') - now)
  after[i] = owed + interval * count
  answer[i] = owed
  wait = math.max(wait, after[i] - interval * burst)
end
if count < 0 or wait <= 0 then
  wait = 0
  for i, key in ipairs(KEYS) do
    if after[i] > 0 then
      local due = string.format('%.0f', now + after[i])
      redis.call('SET', key, due, 'PX', math.ceil(after[i] / 1000))
    else
      redis.call('DEL', key)
    end
    answer[i] = math.max(0, after[i])
  end
end
return {wait, unpack(answer)}
"""


@dataclass(frozen=True)
class Limit:
    """One caller's share of one class of requests."""

    kind: str
    caller: str
    rate: Rate

    @property
    def key(self) -> str:
        """Return the key in Valkey; of what a caller wrote, only a digest."""
        digest = sha256(self.caller.encode(errors="backslashreplace")).hexdigest()[:32]
        return f"limit:{self.kind}:{digest}"


@dataclass(frozen=True)
class Standing:
    """The rest of the narrowest limit, and the seconds to wait if it is not enough."""

    limit: int
    remaining: int
    reset_s: int
    wait_s: int

    @property
    def is_allowed(self) -> bool:
        """Whether the caller may go on."""
        return self.wait_s == 0

    def as_headers(self) -> dict[str, str]:
        """Return the headers of draft-ietf-httpapi-ratelimit-headers."""
        return {
            "RateLimit-Limit": str(self.limit),
            "RateLimit-Remaining": str(self.remaining),
            "RateLimit-Reset": str(self.reset_s),
        }


def take(*limits: Limit) -> Standing | None:
    """Take one from each limit, or from none; None when nothing limits or Valkey is away."""
    return _ask(limits, 1)


def give_back(*limits: Limit) -> None:
    """Undo a `take` that was allowed."""
    _ask(limits, -1)


def network_of(address: str) -> str:
    """Return whom an IP address stands for: an IPv6 network counts as one caller."""
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if not isinstance(found, IPv6Address):
        return address
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return f"{int(found) >> (128 - _IPV6_BITS):x}/{_IPV6_BITS}"


class _Outage:
    """Remembers that Valkey is away: requests pass meanwhile, and the log says so once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ends_at = 0.0
        self._is_told = False

    @property
    def goes_on(self) -> bool:
        return time.monotonic() < self._ends_at

    def begin(self, error: RedisError) -> None:
        with self._lock:
            self._ends_at = time.monotonic() + _ASKED_AGAIN_AFTER_S
            told, self._is_told = self._is_told, True
        if not told:
            log.warning("rate_limits_are_off", error=str(error))

    def end(self) -> None:
        if self._is_told:
            self._is_told = False
            log.info("rate_limits_are_on_again")


_outage = _Outage()


@lru_cache(maxsize=1)
def _script() -> Script:
    # Neither the patience nor the retries of the other client: a request must not wait for this.
    client = redis.Redis.from_url(
        settings.REDIS_URL,
        socket_timeout=settings.ATOM_RATE_TIMEOUT_S,
        socket_connect_timeout=settings.ATOM_RATE_TIMEOUT_S,
        retry=Retry(NoBackoff(), 0),
    )
    return client.register_script(_TAKE)


def _ask(limits: Sequence[Limit], count: int) -> Standing | None:
    counted = [limit for limit in limits if limit.rate.burst]
    if not counted or _outage.goes_on:
        return None
    numbers = [number for one in counted for number in (one.rate.interval_us, one.rate.burst)]
    try:
        # Limits fail open: they protect the service, and must not take it down.
        found = cast("list[int]", _script()([one.key for one in counted], [count, *numbers]))
    except RedisError as error:
        _outage.begin(error)
        return None
    _outage.end()
    wait_us, *owed_us = found
    return min(
        (_standing(one.rate, owed, wait_us) for one, owed in zip(counted, owed_us, strict=True)),
        key=lambda standing: standing.remaining,
    )


def _standing(rate: Rate, owed_us: int, wait_us: int) -> Standing:
    return Standing(
        limit=rate.burst,
        remaining=max(0, rate.burst - math.ceil(owed_us / rate.interval_us)),
        reset_s=math.ceil(owed_us / 1_000_000),
        wait_s=math.ceil(wait_us / 1_000_000),
    )
