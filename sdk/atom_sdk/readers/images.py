"""Pictures as arrays, for whoever has no decoder of their own; needs `atom-sdk[images]`.

Pixels are as stored: an orientation in the EXIF data is not applied, as torchvision does not.
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

from atom_sdk.errors import ImageDecodeError, ImageDecoderMissingError
from atom_sdk.readers.local import Sample

if TYPE_CHECKING:
    from PIL import Image

T = TypeVar("T")
_THREADS = 8
# Samples that are being decoded or wait for their turn, per thread.
_AHEAD = 4


@dataclass(frozen=True)
class ImageDecoder:
    """`decoder(sample)` is (pixels, label code); can be pickled, for workers of a DataLoader.

    Pixels are uint8 of shape (channels, height, width), in an array of their own: NumPy's, or
    torch's with `tensor`. `size` is (height, width); a JPEG that is much larger is decoded smaller
    in the first place. Raises ImageDecodeError, which names the file, ImageDecoderMissingError.
    """

    size: tuple[int, int] | None = None
    mode: Literal["RGB", "L"] = "RGB"
    tensor: bool = False

    def __post_init__(self) -> None:
        """Raises ValueError for a size that no picture has."""
        if self.size is not None and min(self.size) < 1:
            raise ValueError(f"size must be at least 1 x 1, not {self.size}")

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
        try:
            with pil.open(io.BytesIO(data)) as image:
                pixels = np.asarray(self._sized(image))
        except (OSError, ValueError, SyntaxError, EOFError, pil.DecompressionBombError) as error:
            raise ImageDecodeError(path, str(error)) from error
        planes = pixels[None] if pixels.ndim == 2 else pixels.transpose(2, 0, 1)
        # A copy: Pillow's own memory is read-only, and rows of channels are what networks take.
        return np.array(planes, dtype=np.uint8, order="C")

    def _sized(self, image: Image.Image) -> Image.Image:
        if self.size is None:
            return image.convert(self.mode)
        height, width = self.size
        # JPEG only; others ignore it. At least the size asked for, by a power of two.
        image.draft(self.mode, (width, height))
        whole = image.convert(self.mode)
        return whole if whole.size == (width, height) else whole.resize((width, height))


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
