"""Pictures become arrays; what is none is named."""

from __future__ import annotations

import io
import pickle
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from atom_sdk.errors import ImageDecodeError
from atom_sdk.readers import LocalDataset, Sample
from atom_sdk.readers.images import ImageDecoder, decode_many
from tests.sdk.mount.conftest import dataset_of

SIDE = 64


def encoded(color: tuple[int, int, int], kind: str = "png") -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (2 * SIDE, SIDE), color).save(out, kind)
    return out.getvalue()


@pytest.fixture
def dataset(tmp_path: Path) -> LocalDataset:
    files = {f"{n:02d}.png": encoded((n, 0, 255 - n)) for n in range(40)}
    return dataset_of(tmp_path, files)


def test_pixels_come_by_channels_in_memory_of_their_own(dataset: LocalDataset) -> None:
    pixels, label = ImageDecoder()(dataset[3])
    assert (pixels.shape, pixels.dtype, label) == ((3, SIDE, 2 * SIDE), np.uint8, -1)
    assert pixels[:, 0, 0].tolist() == [3, 0, 252]
    pixels[0] = 9
    assert pixels.flags.c_contiguous
    grey, _ = ImageDecoder(size=(8, 9), mode="L")(dataset[3])
    assert grey.shape == (1, 8, 9)


def test_a_large_jpeg_is_decoded_smaller() -> None:
    data = encoded((200, 100, 50), "jpeg")
    small = ImageDecoder(size=(SIDE // 4, SIDE // 2)).decode(data, "a.jpg")
    assert small.shape == (3, SIDE // 4, SIDE // 2)
    assert np.abs(small[:, 4, 4].astype(int) - [200, 100, 50]).max() < 6


def test_threads_give_what_one_by_one_gives_in_the_same_order(dataset: LocalDataset) -> None:
    decode = pickle.loads(pickle.dumps(ImageDecoder(size=(4, 4))))
    found = [pixels[:, 0, 0].tolist() for pixels, _ in decode_many(dataset, decode, threads=3)]
    assert found == [[n, 0, 255 - n] for n in range(40)]


@pytest.mark.parametrize(
    "data",
    [b"", b"no picture", encoded((1, 2, 3))[:60], encoded((1, 2, 3), "jpeg")[:400]],
    ids=["empty", "text", "png", "jpeg"],
)
def test_what_is_no_picture_is_named(data: bytes) -> None:
    with pytest.raises(ImageDecodeError, match=r"cats/1\.png"):
        ImageDecoder().decode(data, "cats/1.png")


def test_an_error_comes_when_its_sample_is_due_and_reading_stops(dataset: LocalDataset) -> None:
    read: list[int] = []

    def samples() -> Iterator[Sample]:
        for sample in dataset:
            read.append(sample.row)
            yield sample

    def decode(sample: Sample) -> int:
        if sample.row == 2:
            raise ImageDecodeError(sample.path, "damaged")
        return sample.row

    decoded = decode_many(samples(), decode, threads=1)
    assert [next(decoded), next(decoded)] == [0, 1]
    with pytest.raises(ImageDecodeError, match=r"02\.png"):
        next(decoded)
    assert len(read) < len(dataset)


def test_sizes_and_threads_that_cannot_be_are_refused(dataset: LocalDataset) -> None:
    with pytest.raises(ValueError, match="size"):
        ImageDecoder(size=(0, 4))
    with pytest.raises(ValueError, match="threads"):
        next(decode_many(dataset, ImageDecoder(), threads=0))
