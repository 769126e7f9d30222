"""Idempotency keys as UUIDs, which take a third of the text's room in row and index."""

import hashlib
import re
from typing import Final
from uuid import UUID

# The migration that converted older rows says the same in SQL.
_PREFIX: Final = "atom label key\n"
_HEX = "[0-9a-f]"
_UUID: Final = re.compile(f"{_HEX}{{8}}(-?){_HEX}{{4}}\\1{_HEX}{{4}}\\1{_HEX}{{4}}\\1{_HEX}{{12}}")


def uuid_of_key(key: str) -> UUID:
    """Return the UUID that a key is, or for any other text one of version 8 of its SHA-256."""
    if _UUID.fullmatch(key):
        return UUID(key)
    digest = bytearray(hashlib.sha256(f"{_PREFIX}{key}".encode()).digest()[:16])
    digest[6] = digest[6] & 0x0F | 0x80
    digest[8] = digest[8] & 0x3F | 0x80
    return UUID(bytes=bytes(digest))
