"""Recent log data of a rank, in a Redis Stream until the flusher makes chunks of it.

An entry's id is `<offset of the byte after it>-0`. So a reader at offset N reads ids after `N-0`,
trimming at N is `MINID`, and bytes cannot arrive twice. `…:next` holds the expected offset. It
outlives trimming and is seeded from the database when Valkey lost it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast
from uuid import UUID

from atom.core import redis

READ_ENTRIES = 64
_EXPIRES_AFTER_EOF_S = 3600

# KEYS: stream, next, pending. ARGV: seed, offset, payload bytes, lines, body, log.
# The time is Valkey's: who appends and who asks how old it is are different machines.
# Returns {1, next} when appended, {0, next} when the offset is not the expected one.
_APPEND = """
local next = redis.call('GET', KEYS[2]) or ARGV[1]
if tonumber(next) ~= tonumber(ARGV[2]) then return {0, next} end
local after = string.format('%.0f', tonumber(next) + tonumber(ARGV[3]))
local now = redis.call('TIME')
local ms = string.format('%.0f', now[1] * 1000 + math.floor(now[2] / 1000))
redis.call('XADD', KEYS[1], after .. '-0', 'n', ARGV[3], 'l', ARGV[4], 't', ms, 'd', ARGV[5])
redis.call('SET', KEYS[2], after)
redis.call('SADD', KEYS[3], ARGV[6])
return {1, after}
"""
# KEYS: stream. ARGV: smallest id. Adds up the lines without sending the bodies.
_COUNT_LINES = """
local lines = 0
for _, entry in ipairs(redis.call('XRANGE', KEYS[1], ARGV[1], '+')) do
  lines = lines + entry[2][4]
end
return lines
"""
# KEYS: next, pending. ARGV: flushed offset, log. Forgets a log that is wholly in chunks.
_SETTLE = """
local next = redis.call('GET', KEYS[1])
if not next or tonumber(next) <= tonumber(ARGV[1]) then redis.call('SREM', KEYS[2], ARGV[2]) end
"""
_PENDING = "log:pending"


@dataclass(frozen=True, slots=True)
class Entry:
    """A body of frames as it was appended; it covers [start, end) of the log."""

    start: int
    end: int
    lines: int
    arrived_ms: int
    body: bytes


def log_of(attempt_id: UUID | str, rank: int = 0) -> str:
    """Return the name of a rank's log; that of rank 0 is its attempt's id."""
    return f"{attempt_id}.{rank}" if rank else str(attempt_id)


def stream_key(name: str) -> str:
    """Return the key of a log's stream."""
    return f"log:{{{name}}}:stream"


def _next_key(name: str) -> str:
    return f"log:{{{name}}}:next"


def next_offset(name: str) -> int | None:
    """Return the offset that the log has reached, None if Valkey does not know it."""
    value = cast("bytes | None", redis.client().get(_next_key(name)))
    return None if value is None else int(value)


def append(name: str, seed: int, offset: int, size: tuple[int, int], body: bytes) -> int | None:
    """Append a body at `offset` and return the new end; None if another offset is expected.

    `size` is (payload bytes, lines). `seed` is the expected offset if Valkey does not know it.
    """
    keys = [stream_key(name), _next_key(name), _PENDING]
    script = redis.client().register_script(_APPEND)
    arguments: list[int | str | bytes] = [seed, offset, *size, body, name]
    appended, after = cast("list[Any]", script(keys, arguments))
    return int(after) if appended else None


def read(name: str, start: int, count: int = READ_ENTRIES) -> list[Entry]:
    """Return up to `count` entries that end after `start`, in order."""
    found = redis.client().xrange(stream_key(name), min=f"({start}-0", count=count)
    return [parse_entry(*item) for item in cast("list[Any]", found)]


def lines_after(name: str, start: int) -> int:
    """Return the number of lines in the entries that end after `start`."""
    script = redis.client().register_script(_COUNT_LINES)
    return int(cast("int", script([stream_key(name)], [f"({start}-0"])))


def parse_entry(entry_id: bytes, fields: dict[bytes, bytes]) -> Entry:
    """Build an entry from what the Redis client returns."""
    end = int(entry_id.split(b"-")[0])
    return Entry(
        start=end - int(fields[b"n"]),
        end=end,
        lines=int(fields[b"l"]),
        arrived_ms=int(fields[b"t"]),
        body=fields[b"d"],
    )


def trim(name: str, flushed: int) -> None:
    """Drop the entries that end at or before `flushed`."""
    redis.client().xtrim(stream_key(name), minid=f"{flushed}-1", approximate=False)


def settle(name: str, flushed: int) -> None:
    """Take a log off the list of those to flush if nothing came meanwhile."""
    script = redis.client().register_script(_SETTLE)
    script([_next_key(name), _PENDING], [flushed, name])


def attempts_to_flush() -> list[UUID]:
    """Return the attempts whose streams hold what no chunk does."""
    members = cast("set[bytes]", redis.client().smembers(_PENDING))
    return sorted({UUID(member.decode().split(".")[0]) for member in members})


def expire(name: str) -> None:
    """Let the stream of a log that has ended go; readers that lag still find it for a while."""
    for key in (stream_key(name), _next_key(name)):
        redis.client().expire(key, _EXPIRES_AFTER_EOF_S)


def ask_once(attempt_id: UUID, what: str, for_s: int) -> bool:
    """Return True for the first caller in `for_s` seconds: one flush task, not one per batch."""
    key = f"log:{{{attempt_id}}}:{what}"
    return bool(redis.client().set(key, b"1", nx=True, ex=for_s))
