"""Why there is no pyramid of a picture."""

from typing import Final

TOO_LARGE: Final = "too_large"
UNREADABLE: Final = "unreadable"
TOO_DEEP: Final = "too_deep"
# A limit of memory or time ended the process.
HEAVY: Final = "heavy"
# The bytes of the picture are not in the store, or they are damaged.
MISSING: Final = "missing"
REASONS: Final = (TOO_LARGE, UNREADABLE, TOO_DEEP, HEAVY, MISSING)
