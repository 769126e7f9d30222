"""Identifiers: UUIDv7, so that primary keys sort by creation time."""

import os
import time
import uuid


def uuid7() -> uuid.UUID:
    """Return a time-ordered UUID (RFC 9562, version 7, millisecond resolution)."""
    unix_ms = time.time_ns() // 1_000_000
    value = (unix_ms & 0xFFFF_FFFF_FFFF) << 80 | int.from_bytes(os.urandom(10), "big")
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    return uuid.UUID(int=value)
