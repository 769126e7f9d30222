"""Tiles of large and deep pictures: made once, told how far they are, served as they are."""

from __future__ import annotations

import io
from datetime import timedelta
from typing import Any

import httpx
import numpy as np
import pytest
from asgiref.sync import async_to_sync
from blake3 import blake3
from PIL import Image

from atom.core import storage
from atom.datasets.keys import pack_key
from atom.datasets.models import CondemnedObject, GarbageRun, PicturePyramid
from atom.datasets.pyramids.actions.making import clear_pyramids, key_of, make_pyramid
from atom.gateway.asgi import application, tile_server
from atom.labeling.actions.samples import ImageSelection
from atom.labeling.engines.selection import ExcludedCounts
from atom.labeling.models import LabelTask, WorkItem
from tests.factories.accounts import make_member
from tests.labeling.asking import Api
from tests.labeling.drawn import drawn_task

pytestmark = pytest.mark.django_db


def ramp(width: int = 900, height: int = 700) -> np.ndarray[Any, Any]:
    """Return values of 16 bits that all differ from their neighbours."""
    return (np.arange(width * height).reshape(height, width) * 7 % 65536).astype(np.uint16)


def encoded(pixels: np.ndarray[Any, Any], form: str = "PNG", **options: Any) -> bytes:
    """Return the file of a picture."""
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, form, **options)
    return file.getvalue()


def task_over(data: bytes, media_type: str = "image/png") -> LabelTask:
    """Return a task whose one picture has these bytes, in a stored pack."""
    task = drawn_task(1)
    item = WorkItem.objects.get(label_task=task)
    media = {**item.media, "size_bytes": len(data), "media_type": media_type}
    digest = blake3(data).hexdigest()
    WorkItem.objects.filter(pk=item.pk).update(width=None, height=None, media=media, digest=digest)
    key = storage.project_prefix(task.project) + pack_key(media["pack"])
    storage.objects().put(key, bytes(media["offset"]) + data)
    return task


def leased(task: LabelTask) -> tuple[Api, dict[str, Any]]:
    """Return a labeler and the slot that was leased."""
    api = Api(make_member(task.project, "labeler"))
    [slot] = api("POST", f"labelx/tasks/{task.pk}/lease/?n=1", {}).json()["lease"]
    return api, slot


def tiles_of(api: Api, slot: dict[str, Any]) -> dict[str, Any]:
    """Return how far the tiles of a slot's picture are."""
    answer: dict[str, Any] = api("GET", f"labelx/items/{slot['item_id']}/tiles/").json()
    return answer


def tile(tiles: dict[str, Any], level: int, x: int, y: int) -> httpx.Response:
    """Return the gateway's answer for a tile."""

    async def ask() -> httpx.Response:
        tile_server.cache_clear()
        transport = httpx.ASGITransport(app=application)  # type: ignore[arg-type]
        address = tiles["url"].format(level=level, x=x, y=y)
        async with httpx.AsyncClient(transport=transport, base_url="http://gateway") as client:
            return await client.get(address)

    return async_to_sync(ask)()


def test_a_lease_has_the_tiles_of_a_deep_picture_made_whose_values_are_exact() -> None:
    pixels = ramp()
    task = task_over(encoded(pixels))
    api, slot = leased(task)
    assert (slot["tiled"], slot["width"], slot["height"]) == (True, 900, 700)
    assert tiles_of(api, slot)["state"] == "waiting"
    make_pyramid(PicturePyramid.objects.get().pk)
    tiles = tiles_of(api, slot)
    assert (tiles["state"], tiles["levels"], tiles["tile"]) == ("ready", 2, 512)
    assert (tiles["bits"], tiles["channels"], tiles["low"], tiles["high"]) == (16, 1, 0, 65535)
    answer = tile(tiles, 1, 1, 1)
    assert answer.headers["content-type"] == "image/png"
    shown = np.asarray(Image.open(io.BytesIO(answer.content)))
    np.testing.assert_array_equal(shown, pixels[512:700, 512:900])
    small = Image.open(io.BytesIO(tile(tiles, 0, 0, 0).content))
    assert small.size == (450, 350)


def test_a_large_photograph_is_turned_as_exif_says(settings: Any) -> None:
    settings.ATOM_WHOLE_PICTURE_PIXELS = 999_999
    pixels = np.zeros((1000, 1200, 3), np.uint8)
    pixels[:, :600] = 255
    exif = Image.Exif()
    exif[0x0112] = 6
    api, slot = leased(task_over(encoded(pixels, "JPEG", exif=exif), "image/jpeg"))
    assert (slot["tiled"], slot["width"], slot["height"]) == (True, 1000, 1200)
    make_pyramid(PicturePyramid.objects.get().pk)
    tiles = tiles_of(api, slot)
    assert (tiles["width"], tiles["height"], tiles["format"]) == (1000, 1200, "jpg")
    # The left half of the file is the upper half of the picture.
    top = np.asarray(Image.open(io.BytesIO(tile(tiles, tiles["levels"] - 1, 0, 0).content)))
    bottom = np.asarray(Image.open(io.BytesIO(tile(tiles, tiles["levels"] - 1, 0, 2).content)))
    assert top.min() > 250
    assert bottom.max() < 5


def whole_picture(data: bytes, media_type: str) -> tuple[dict[str, Any], np.ndarray[Any, Any]]:
    """Return the tiles of a picture that one tile holds, and the values of that tile."""
    api, slot = leased(task_over(data, media_type))
    assert slot["tiled"] is True
    make_pyramid(PicturePyramid.objects.get().pk)
    tiles = tiles_of(api, slot)
    assert tiles["state"] == "ready", tiles
    shown = Image.open(io.BytesIO(tile(tiles, tiles["levels"] - 1, 0, 0).content))
    return tiles, np.asarray(shown)


def test_a_floating_point_tiff_is_stretched_by_its_own_finite_range() -> None:
    pixels = np.array([[-1.5, 0.0], [np.nan, 8.5], [np.inf, 3.5]], np.float32)
    tiles, shown = whole_picture(encoded(pixels, "TIFF"), "image/tiff")
    assert (tiles["bits"], tiles["low"], tiles["high"], tiles["zero"]) == (16, 0, 65535, 0)
    middle = round(1.5 * 6553.5)
    np.testing.assert_array_equal(shown, [[0, middle], [0, 65535], [0, 32768]])


def test_integers_of_32_bits_keep_their_values_where_16_bits_hold_the_range() -> None:
    pixels = np.array([[100_000, 100_007], [99_990, 150_000]], np.int32)
    tiles, shown = whole_picture(encoded(pixels, "TIFF"), "image/tiff")
    assert (tiles["low"], tiles["high"], tiles["zero"]) == (99_990, 150_000, 99_990)
    np.testing.assert_array_equal(shown.astype(np.int64) + tiles["zero"], pixels)


def test_integers_of_a_wide_range_are_stretched() -> None:
    pixels = np.array([[-2_000_000_000, 2_000_000_000], [0, 0]], np.int32)
    tiles, shown = whole_picture(encoded(pixels, "TIFF"), "image/tiff")
    assert (tiles["low"], tiles["high"]) == (0, 65535)
    np.testing.assert_array_equal(shown, [[0, 65535], [32768, 32768]])


def test_a_picture_that_only_pillow_reads_is_shown() -> None:
    pixels = np.zeros((4, 5, 3), np.uint8)
    pixels[:, 2] = (10, 200, 30)
    _, shown = whole_picture(encoded(pixels, "TGA"), "image/x-tga")
    np.testing.assert_array_equal(shown, pixels)


def test_a_picture_that_could_not_be_drawn_is_left_out_of_the_next_task_and_counted() -> None:
    task = drawn_task(2)
    drawn, damaged = WorkItem.objects.filter(label_task=task).order_by("path")
    PicturePyramid.objects.create(
        project=task.project, digest=damaged.digest, pack=damaged.media["pack"], offset=0,
        size_bytes=1, state="failed", reason="unreadable",
    )  # fmt: skip
    PicturePyramid.objects.create(
        project=task.project, digest=drawn.digest, pack=drawn.media["pack"], offset=0,
        size_bytes=1, state="failed", reason="heavy",
    )  # fmt: skip
    selected = ImageSelection(task.dataset_version, "unlabelled/", labelled=None)
    assert [sample.path for sample in selected.samples()] == [drawn.path]
    assert selected.left_out == ExcludedCounts(not_images=0, unreadable=1)


def test_a_small_photograph_has_no_tiles_until_somebody_asks() -> None:
    api, slot = leased(task_over(encoded(np.zeros((40, 60, 3), np.uint8))))
    assert slot["tiled"] is False
    assert tiles_of(api, slot)["state"] == "none"
    assert not PicturePyramid.objects.exists()
    address = f"labelx/items/{slot['item_id']}/tiles/"
    assert api("POST", address, {}).json()["state"] == "waiting"
    assert api("POST", address, {}).json()["state"] == "waiting"
    assert PicturePyramid.objects.count() == 1


def test_a_photograph_of_the_most_pixels_is_shown_whole(settings: Any) -> None:
    settings.ATOM_WHOLE_PICTURE_PIXELS = 40 * 60
    _, slot = leased(task_over(encoded(np.zeros((40, 60, 3), np.uint8))))
    assert slot["tiled"] is False
    _, slot = leased(task_over(encoded(np.zeros((41, 60, 3), np.uint8))))
    assert slot["tiled"] is True


def test_bytes_that_are_no_picture_fail_with_a_reason_and_may_be_tried_again() -> None:
    task = task_over(encoded(ramp())[:5000])
    api, slot = leased(task)
    pyramid = make_pyramid(PicturePyramid.objects.get().pk)
    assert (pyramid.state, pyramid.reason) == ("failed", "unreadable")
    assert tiles_of(api, slot)["reason"] == "unreadable"
    again = api("POST", f"labelx/items/{slot['item_id']}/tiles/", {}).json()
    assert (again["state"], again["reason"]) == ("waiting", "")


def test_other_bytes_than_the_digest_names_are_not_shown() -> None:
    task = task_over(encoded(ramp()))
    leased(task)
    PicturePyramid.objects.update(digest="0" * 64)
    assert make_pyramid(PicturePyramid.objects.get().pk).reason == "missing"


def test_strangers_learn_nothing_and_a_forged_link_opens_nothing() -> None:
    api, slot = leased(task_over(encoded(ramp())))
    make_pyramid(PicturePyramid.objects.get().pk)
    stranger = Api(make_member(drawn_task(1).project, "labeler"))
    assert stranger("GET", f"labelx/items/{slot['item_id']}/tiles/").status_code == 404
    tiles = tiles_of(api, slot)
    assert tile({"url": tiles["url"].replace("tiles/", "tiles/x", 1)}, 0, 0, 0).status_code == 404
    assert tile(tiles, 7, 0, 0).json()["code"] == "tile_missing"


def test_tiles_go_with_the_bytes_of_their_picture_and_come_back_when_asked_for() -> None:
    task = task_over(encoded(ramp()))
    api, slot = leased(task)
    pyramid = make_pyramid(PicturePyramid.objects.get().pk)
    assert clear_pyramids() == 0
    run = GarbageRun.objects.create(project=task.project, state="done")
    PicturePyramid.objects.update(used_at=pyramid.used_at - timedelta(hours=1))
    CondemnedObject.objects.create(
        project=task.project, run=run, kind="packs", digest=pyramid.pack, size_bytes=1,
        state="deleted", settled_at=pyramid.used_at,
    )  # fmt: skip
    assert clear_pyramids() == 1
    assert not storage.objects().exists(key_of(pyramid))
    assert tiles_of(api, slot)["state"] == "cleared"
    assert api("POST", f"labelx/items/{slot['item_id']}/tiles/", {}).json()["state"] == "waiting"
    assert make_pyramid(pyramid.pk).state == "ready"
    assert storage.objects().exists(key_of(pyramid))


def test_tiles_that_nobody_used_are_cleared_and_others_stay() -> None:
    task = task_over(encoded(ramp()))
    leased(task)
    pyramid = make_pyramid(PicturePyramid.objects.get().pk)
    assert clear_pyramids(timedelta(days=30)) == 0
    PicturePyramid.objects.update(used_at=pyramid.used_at - timedelta(days=31))
    assert clear_pyramids(timedelta(days=30)) == 1
