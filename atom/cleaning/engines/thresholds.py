"""Limits above or below which an image is a finding; docs/cleaning.md gives the reasons."""

from __future__ import annotations

from dataclasses import dataclass

MAX_NEAR_DISTANCE = 10


@dataclass(frozen=True)
class Thresholds:
    """Limits of findings.

    `near_distance`: two images whose perceptual hashes differ in at most so many of 64 bits are
    near duplicates; fewer where one is smaller than WHOLE_HASH_SIDE_PX. `tiny_side_px`: an image
    is tiny if its shorter side is below it, and below half of what is usual in the version.
    `dark_bright`: dark if even the 98th percentile of its luminance (0..1) is below it.
    `blur_sharpness`: blurred if the variance of its Laplacian is.
    """

    # Recompression and resizing change 0 to 4 bits; of a million unrelated images, fewer than one
    # pair is expected within 4, two within 6.
    near_distance: int = 4
    # The smallest input of common networks.
    tiny_side_px: int = 32
    # A quarter of the scale: in daylight, highlights are near 1.
    dark_bright: float = 0.25
    # A sharp photo at 256 px has hundreds; 20 is left of one after a blur of about 1.7 px.
    blur_sharpness: float = 20.0


# In a version of small images, a small image is no mistake.
TINY_SHARE_OF_MEDIAN = 0.5
# The hash of a smaller image says less, and unrelated images come close, so the distance shrinks
# with the shorter side. Among 1,500 digits of 28 px, 254 pairs are within 4 bits, 35 within 2.
WHOLE_HASH_SIDE_PX = 64
# The perceptual hash of an image without structure has no meaning.
FEATURELESS_SHARPNESS = 1.0
