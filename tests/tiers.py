"""Which tests run: the fast ones in `make test`, the deep ones in `make test-deep`, or a tenth.

A test marked `deep` waits for faults, fills disks or asks thousands of requests. A property test
runs in both tiers, with few examples in the fast one and many in the deep one.
"""

from __future__ import annotations

import os
import zlib
from math import ceil

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

TIERS = ("fast", "deep", "all")
TENTHS = 10
TENTH_VARIABLE = "ATOM_DEEP_TENTH"
# How many examples a property is asked for, unless it names another number.
_FAST_EXAMPLES = 15
_DEEP_EXAMPLES = 120
# The profile whose examples a property names.
_NAMED_EXAMPLES = 60


def load_profile(tier: str) -> None:
    """Choose how many examples a property is asked for; before any test module is imported."""
    for name, examples in (("fast", _FAST_EXAMPLES), ("deep", _DEEP_EXAMPLES)):
        hypothesis_settings.register_profile(
            name,
            # How long an example takes says something of the machine only.
            deadline=None,
            max_examples=examples,
            suppress_health_check=[HealthCheck.too_slow],
        )
    hypothesis_settings.load_profile("deep" if tier == "deep" else "fast")


def examples(number: int) -> int:
    """Return how many examples the profile asks for where 60 are usual and `number` are named."""
    usual = int(hypothesis_settings().max_examples)
    return max(ceil(number * usual / _NAMED_EXAMPLES), min(number, 10))


def tenth_of(node_id: str) -> int:
    """Return the tenth, 0 to 9, in which a deep test runs; the same on every machine."""
    return zlib.crc32(node_id.encode()) % TENTHS


def chosen_tenth() -> int | None:
    """Return the tenth that the environment asks for, None for all of them.

    Raises:
        pytest.UsageError: for anything but a number from 0 to 9.
    """
    text = os.environ.get(TENTH_VARIABLE, "")
    if not text:
        return None
    if text not in map(str, range(TENTHS)):
        raise pytest.UsageError(f"{TENTH_VARIABLE} is a number from 0 to 9, not {text!r}")
    return int(text)


def is_deep(item: pytest.Item) -> bool:
    """Return whether a test runs in the deep tier alone."""
    return item.get_closest_marker("deep") is not None


def is_property(item: pytest.Item) -> bool:
    """Return whether hypothesis makes the examples of a test."""
    return bool(getattr(getattr(item, "obj", None), "is_hypothesis_test", False))


def in_tier(item: pytest.Item, tier: str, tenth: int | None) -> bool:
    """Return whether a test runs in a tier, of the deep one in the given tenth."""
    if tier == "all":
        return True
    if tier == "fast":
        return not is_deep(item)
    return (is_deep(item) or is_property(item)) and tenth in (None, tenth_of(item.nodeid))
