"""Pictures become arrays; what is none is named."""

from __future__ import annotations

import io
import pickle
import struct
import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from atom_sdk.errors import ImageDecodeError, PixelRangeError
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


RAMP = np.linspace(0, 65535, 80)[None].repeat(4, 0).astype(np.uint16)
# Near 0 to 255 in 80 even steps.
SCALED = np.rint(RAMP / 257).astype(np.uint8)


def saved(pixels: NDArray[Any] | Image.Image, kind: str, **options: Any) -> bytes:
    out = io.BytesIO()
    image = pixels if isinstance(pixels, Image.Image) else Image.fromarray(pixels)
    image.save(out, kind, **options)
    return out.getvalue()


def png_of_16_bits(pixels: NDArray[np.uint16], colour_type: int) -> bytes:
    """A PNG as no release of Pillow writes it; `pixels` (height, width, channels)."""
    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + row.astype(">u2").tobytes() for row in pixels)
    header = struct.pack(">IIBBBBB", width, height, 16, colour_type, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    body = (
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(body)


TWELVE = {"tiffinfo": {281: 4095}}
DEEP = {
    "png": saved(RAMP, "png"),
    "png rgb": png_of_16_bits(RAMP[..., None].repeat(3, 2), 2),
    "png grey and alpha": png_of_16_bits(RAMP[..., None].repeat(2, 2), 4),
    "tiff": saved(RAMP, "tiff"),
    "tiff, big-endian": saved(Image.frombytes("I;16B", (80, 4), RAMP.astype(">u2")), "tiff"),
    "tiff of 12 bits": saved(RAMP >> 4, "tiff", **TWELVE),
    "tiff with a statistic": saved(RAMP, "tiff", tiffinfo={281: 60000}),
    "pgm": saved(RAMP, "ppm"),
    "pgm of 12 bits": b"P5 80 4 4095\n" + (RAMP >> 4).astype(">u2").tobytes(),
    "ppm": b"P6 80 4 65535\n" + RAMP[..., None].repeat(3, 2).astype(">u2").tobytes(),
    "jpeg 2000": saved(RAMP, "jpeg2000"),
}


@pytest.mark.parametrize("kind", DEEP)
def test_more_than_8_bits_are_scaled(kind: str) -> None:
    for mode, channels in (("RGB", 3), ("L", 1)):
        pixels = ImageDecoder(mode=mode).decode(DEEP[kind], "a")  # type: ignore[arg-type]
        assert pixels.shape == (channels, 4, 80)
        assert np.abs(pixels.astype(int) - SCALED).max() <= 1
        assert len(np.unique(pixels)) > 75


def test_white_is_zero_is_black() -> None:
    negative = saved(65535 - RAMP, "tiff", tiffinfo={262: 0})
    assert np.abs(ImageDecoder().decode(negative, "a")[0].astype(int) - SCALED).max() <= 1


UNKNOWN = {
    "32 bits": saved(RAMP.astype(np.int32), "tiff"),
    "floats": saved(RAMP.astype(np.float32), "tiff"),
    "floats as pfm": saved(RAMP.astype(np.float32), "ppm"),
}


@pytest.mark.parametrize("kind", UNKNOWN)
def test_a_range_that_nothing_says_is_asked_for(kind: str) -> None:
    with pytest.raises(PixelRangeError, match=r"xrays/1\.tif.*black and white") as raised:
        ImageDecoder().decode(UNKNOWN[kind], "xrays/1.tif")
    assert "value_range" in raised.value.hint
    told = ImageDecoder(value_range=(0, 65535)).decode(UNKNOWN[kind], "a")[0]
    assert np.abs(told.astype(int) - SCALED).max() <= 1


def test_a_range_that_is_said_counts_for_deep_pictures_only() -> None:
    decoder = ImageDecoder(value_range=(0, 4095))
    twelve = decoder.decode(saved(RAMP >> 4, "png"), "a")[0]
    assert np.abs(twelve.astype(int) - SCALED).max() <= 1
    assert decoder.decode(encoded((9, 8, 7)), "a")[:, 0, 0].tolist() == [9, 8, 7]
    with pytest.raises(ImageDecodeError, match="one channel"):
        decoder.decode(DEEP["png rgb"], "a")
    with pytest.raises(ImageDecodeError, match="no numbers"):
        decoder.decode(saved(np.full((2, 2), np.nan, np.float32), "tiff"), "a")
    with pytest.raises(ValueError, match="value_range"):
        ImageDecoder(value_range=(5, 5))


def oriented(orientation: int, kind: str, **options: Any) -> bytes:
    """A picture of 80 x 40 pixels whose left upper quarter is white."""
    image = Image.new("RGB", (80, 40))
    image.paste("white", (0, 0, 40, 20))
    exif = Image.Exif()
    exif[0x0112] = orientation
    return saved(image, kind, exif=exif, **options)


@pytest.mark.parametrize("kind", ["jpeg", "png", "webp", "tiff"])
def test_pictures_are_turned_upright_unless_that_is_switched_off(kind: str) -> None:
    # Where the white quarter goes: rows from above, columns from the left, by EXIF's definition.
    corners = {
        1: (0, 0),
        2: (0, 1),
        3: (1, 1),
        4: (1, 0),
        5: (0, 0),
        6: (0, 1),
        7: (1, 1),
        8: (1, 0),
    }
    for orientation, (row, column) in corners.items():
        data = oriented(orientation, kind)
        pixels = ImageDecoder(mode="L").decode(data, "a")[0]
        height, width = (80, 40) if orientation > 4 else (40, 80)
        assert pixels.shape == (height, width)
        quarters = pixels[height // 4 :: height // 2, width // 4 :: width // 2] > 128
        assert np.argwhere(quarters).tolist() == [[row, column]]
        small = ImageDecoder(size=(height // 4, width // 4), mode="L").decode(data, "a")[0]
        assert np.abs(small.astype(int) - pixels[2::4, 2::4]).max() < 60
    if kind != "tiff":  # Pillow itself turns it.
        assert ImageDecoder(upright=False).decode(oriented(6, kind), "a").shape == (3, 40, 80)


def test_damaged_exif_turns_nothing() -> None:
    data = saved(Image.new("RGB", (80, 40)), "jpeg", exif=b"Exif\0\0no TIFF at all")
    assert ImageDecoder().decode(data, "a").shape == (3, 40, 80)


def test_colours_are_those_that_the_file_has() -> None:
    red = Image.new("RGB", (4, 4), (250, 0, 0))
    palette = red.quantize(4)
    see_through = Image.new("RGBA", (4, 4), (250, 0, 0, 0))
    frames = [Image.new("RGB", (4, 4), colour) for colour in ("black", "white")]
    pictures = {
        "cmyk": saved(red.convert("CMYK"), "tiff"),
        "palette": saved(palette, "png", transparency=b"\0\x80\xff"),
        "alpha": saved(see_through, "png"),
        "grey and alpha": saved(Image.new("LA", (4, 4), (75, 0)), "png"),
        "one bit": saved(Image.new("1", (4, 4), 1), "png"),
        "animated": saved(frames[1], "gif", save_all=True, append_images=frames[:1]),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shown = {name: ImageDecoder().decode(data, name) for name, data in pictures.items()}
    reds, white = [250, 0, 0], [255] * 3
    right = [reds, reds, reds, [75] * 3, white, white]
    assert [pixels[:, 1, 1].tolist() for pixels in shown.values()] == right


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
