"""The part of the steps in which the learning rate rises."""

from __future__ import annotations

WARM_UP = 0.25


def warm_up_share(steps: int) -> float:
    """Return the share, 0 to 1, of `steps` in which the learning rate rises.

    PyTorch's OneCycleLR divides by `share * steps - 1`, which is 0 for a quarter of four steps.
    """
    return 0.5 if WARM_UP * steps == 1 else WARM_UP
