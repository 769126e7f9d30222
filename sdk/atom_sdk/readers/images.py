"""Pictures as arrays, for whoever has no decoder of their own; needs `atom-sdk[images]`.

An orientation in the EXIF data is applied unless `upright` is off. More than 8 bits are scaled as
`pixels` says. An animation gives its first frame; transparency is left out, colours as stored.
"""

from __future__ import annotations

import io
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from atom_sdk.errors import ImageDecodeError, ImageDecoderMissingError, PixelRangeError
from atom_sdk.readers.local import Sample

if TYPE_CHECKING:
    from PIL import Image

T = TypeVar("T")
_THREADS = 8
# Formats that Pillow decodes smaller in the first place.
_DRAFTED = frozenset({"JPEG", "MPO"})
# Samples that are being decoded or wait for their turn, per thread.
_AHEAD = 4


@dataclass(frozen=True)
class ImageDecoder:
    """`decoder(sample)` is (pixels, label code); can be pickled, for workers of a DataLoader.

    Pixels are uint8 of shape (channels, height, width), in an array of their own: NumPy's, or
    torch's with `tensor`. `size` is (height, width); a JPEG that is much larger is decoded smaller
    in the first place. `upright` turns pictures as their EXIF orientation says; switch it off where
    annotations refer to the pixels as stored. `value_range` is (black, white) of pictures with one
    channel of more than 8 bits, such as (0, 4095) for 12 bits in 16. Raises ImageDecodeError, which
    names the file, its subclass PixelRangeError, ImageDecoderMissingError.
    """

    size: tuple[int, int] | None = None
    mode: Literal["RGB", "L"] = "RGB"
    tensor: bool = False
    upright: bool = True
    value_range: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        """Raises ValueError for a size that no picture has, and for a range without values."""
        if self.size is not None and min(self.size) < 1:
            raise ValueError(f"size must be at least 1 x 1, not {self.size}")
        if self.value_range is not None and not self.value_range[0] < self.value_range[1]:
            raise ValueError(f"value_range must be (black, white), not {self.value_range}")

    def __call__(self, sample: Sample) -> tuple[Any, int]:
        """The decoded sample."""
        pixels = self.decode(sample.data, sample.path)
        if not self.tensor:
            return pixels, sample.label_code
        import torch

        return torch.from_numpy(pixels), sample.label_code

    def decode(self, data: memoryview | bytes, path: str) -> NDArray[np.uint8]:
        """Pixels of a file, shape (channels, height, width); `path` is for the error."""
        pil = _pillow()
        from atom_sdk.readers.pixels import UnknownRangeError

        try:
            with pil.open(io.BytesIO(data)) as image:
                pixels = np.asarray(self._sized(image))
        except UnknownRangeError as error:
            raise PixelRangeError(path, str(error)) from error
        # Pillow's decoders raise almost anything on corrupt input; all of it means the same here.
        except Exception as error:
            raise ImageDecodeError(path, str(error) or type(error).__name__) from error
        planes = pixels[None] if pixels.ndim == 2 else pixels.transpose(2, 0, 1)
        # A copy: Pillow's own memory is read-only, and rows of channels are what networks take.
        return np.array(planes, dtype=np.uint8, order="C")

    def _sized(self, image: Image.Image) -> Image.Image:
        from atom_sdk.readers.pixels import (
            in_8_bits,
            is_sideways,
            opaque,
            orientation_of,
            upright,
        )

        if self.size is not None and image.format in _DRAFTED:
            height, width = self.size
            swapped = self.upright and is_sideways(orientation_of(image))
            # At least the size asked for, by a power of two.
            image.draft(self.mode, (height, width) if swapped else (width, height))
        whole = opaque(in_8_bits(image, self.value_range)).convert(self.mode)
        # After loading, which turns a TIFF by itself and reads EXIF that comes after the pixels.
        turned = upright(whole, orientation_of(image)) if self.upright else whole
        if self.size is None or turned.size == self.size[::-1]:
            return turned
        return turned.resize(self.size[::-1])


def decode_many(
    samples: Iterable[Sample], decode: Callable[[Sample], T], threads: int = _THREADS
) -> Iterator[T]:
    """Decoded samples in their order, by threads: Pillow works outside of Python's lock.

    Raises what `decode` raises, when its sample is due, and ValueError for no threads.
    """
    if threads < 1:
        raise ValueError(f"threads must be at least 1, not {threads}")
    with ThreadPoolExecutor(threads, "atom-decode") as pool:
        waiting: deque[Future[T]] = deque()
        try:
            for sample in samples:
                waiting.append(pool.submit(decode, sample))
                if len(waiting) >= threads * _AHEAD:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError as error:
        raise ImageDecoderMissingError from error
    return Image
