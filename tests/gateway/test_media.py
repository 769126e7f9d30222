"""Media links through the ASGI application, over a real object store."""

from __future__ import annotations

import asyncio
import io
import time
import zlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import numpy as np
import pytest
from blake3 import blake3
from django.conf import settings
from PIL import Image

from atom.core import crypto, storage
from atom.core.media import PURPOSE, media_url
from atom.datasets.packs.engines.images import decoding_problem, unreadable_reason
from atom.datasets.packs.engines.pixel_limits import MAX_OPENED
from atom.gateway.asgi import application, media_server
from atom.gateway.thumb_cache import ThumbCache
from tests.datasets.pushing import MadePack, make_pack, png

PROJECT = "01900000-0000-7000-8000-000000000001"


@pytest.fixture
async def gateway() -> AsyncIterator[httpx.AsyncClient]:
    """A client of the gateway, which may have served another folder in an earlier test."""
    media_server.cache_clear()
    transport = httpx.ASGITransport(app=application)  # type: ignore[arg-type]
    async with httpx.AsyncClient(transport=transport, base_url="http://gateway") as client:
        yield client


def stored(files: dict[str, bytes]) -> MadePack:
    """Put a pack into the store."""
    pack = make_pack(files)
    storage.objects().put(key_of(pack), pack.data)
    return pack


def key_of(pack: MadePack) -> str:
    """Return where a pack lies."""
    return f"p/{PROJECT}/packs/{pack.digest}.tar"


def link(pack: MadePack, row: int = 0, media_type: str = "image/png", **options: object) -> str:
    """Return the media address of a member."""
    member = pack.members[row]
    return media_url(
        key_of(pack),
        member.offset,
        member.size,
        media_type,
        digest=member.digest.hex(),
        name=member.path,
        **options,  # type: ignore[arg-type]
    )


async def test_a_file_comes_whole_with_validators(gateway: httpx.AsyncClient) -> None:
    data = png(1)
    pack = stored({"a/one.png": data, "a/two.png": png(2)})

    answer = await gateway.get(link(pack))

    assert (answer.status_code, answer.content) == (200, data)
    assert answer.headers["content-type"] == "image/png"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "private, max-age=86400, immutable"
    assert answer.headers["etag"].strip('"') == blake3(data).hexdigest()[:16]
    assert answer.headers["content-disposition"].startswith("inline")


async def test_a_known_etag_is_answered_with_304(gateway: httpx.AsyncClient) -> None:
    pack = stored({"a.png": png(1)})
    etag = (await gateway.get(link(pack))).headers["etag"]

    answer = await gateway.get(link(pack), headers={"If-None-Match": f'"other", {etag}'})

    assert (answer.status_code, answer.content) == (304, b"")


async def test_a_range_is_answered_with_206(gateway: httpx.AsyncClient) -> None:
    data = bytes(range(256)) * 40
    pack = stored({"a.bin": data, "b.bin": b"secret"})
    address = link(pack, media_type="application/octet-stream")

    answer = await gateway.get(address, headers={"Range": "bytes=100-199"})
    beyond = await gateway.get(address, headers={"Range": f"bytes={len(data)}-"})

    assert (answer.status_code, answer.content) == (206, data[100:200])
    assert answer.headers["content-range"] == f"bytes 100-199/{len(data)}"
    assert beyond.status_code == 416
    assert beyond.headers["content-type"] == "application/problem+json"


async def test_a_large_file_comes_in_pieces(gateway: httpx.AsyncClient) -> None:
    data = bytes(9 << 20)
    pack = stored({"large.bin": data})

    answer = await gateway.get(link(pack, media_type="video/mp4"))

    assert answer.status_code == 200
    assert len(answer.content) == len(data)


async def test_what_nobody_waits_for_is_not_read_on() -> None:
    """uvicorn's `send` says nothing of a client that has left; its `receive` does."""
    pack = stored({"large.bin": bytes(24 << 20)})
    path = link(pack, media_type="video/mp4")
    scope = {"type": "http", "method": "GET", "path": path, "headers": []}
    begun, pieces = asyncio.Event(), []

    async def receive() -> dict[str, object]:
        await begun.wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, object], /) -> None:
        if message["type"] == "http.response.body":
            pieces.append(message)
            begun.set()
            await asyncio.sleep(0)

    media_server.cache_clear()
    await application(scope, receive, send)

    assert 1 <= len(pieces) <= 3


async def test_head_has_no_body(gateway: httpx.AsyncClient) -> None:
    answer = await gateway.head(link(stored({"a.png": png(1)})))

    assert (answer.status_code, answer.content) == (200, b"")


@pytest.mark.parametrize(
    "media_type", ["image/svg+xml", "text/html", "application/xhtml+xml", "text/xml"]
)
async def test_what_could_run_scripts_is_only_downloaded(
    gateway: httpx.AsyncClient, media_type: str
) -> None:
    pack = stored({"x": b"<svg onload='alert(1)'/>"})

    answer = await gateway.get(link(pack, media_type=media_type))

    assert answer.headers["content-disposition"].startswith("attachment")
    assert "sandbox" in answer.headers["content-security-policy"]
    assert "html" not in answer.headers["content-type"]


async def test_a_thumbnail_is_small_and_has_its_own_etag(gateway: httpx.AsyncClient) -> None:
    out = io.BytesIO()
    Image.effect_noise((900, 600), 80).save(out, "PNG")
    pack = stored({"large.png": out.getvalue()})

    answer = await gateway.get(link(pack, width=128))
    again = await gateway.get(link(pack, width=128))

    assert answer.headers["content-type"] == "image/webp"
    assert Image.open(io.BytesIO(answer.content)).size == (128, 85)
    assert answer.headers["etag"].endswith('-w128"')
    assert again.content == answer.content


@pytest.mark.parametrize(
    ("extension", "values"),
    [
        ("png", np.arange(64 * 64, dtype=np.uint16) * 16),
        ("png", np.arange(64 * 64, dtype=np.uint16) // 4 + 20_000),
        ("tiff", np.arange(64 * 64, dtype=np.uint16) * 16),
        ("tiff", np.linspace(-1, 1, 64 * 64, dtype=np.float32)),
        ("tiff", np.arange(64 * 64, dtype=np.int32) * 1000 - 7),
        ("tiff", np.full(64 * 64, np.inf, np.float32)),
    ],
)
async def test_wide_pixels_are_seen_from_black_to_white(
    gateway: httpx.AsyncClient, extension: str, values: np.ndarray[Any, Any]
) -> None:
    out = io.BytesIO()
    Image.fromarray(values.reshape(64, 64)).resize((512, 512)).save(out, extension)
    pack = stored({f"depth.{extension}": out.getvalue()})

    answer = await gateway.get(link(pack, width=128))

    assert answer.status_code == 200
    seen = np.asarray(Image.open(io.BytesIO(answer.content)).convert("L"))
    if np.isfinite(values).all():
        assert (seen.min() < 10, seen.max() > 245, 100 < seen.mean() < 155) == (True,) * 3


async def test_a_broken_picture_has_no_thumbnail_and_is_decoded_once(
    gateway: httpx.AsyncClient,
) -> None:
    whole = io.BytesIO()
    Image.effect_noise((320, 240), 80).save(whole, "JPEG")
    pack = stored({"bad.png": b"not a picture", "cut.jpg": whole.getvalue()[:9_000]})

    answers = [await gateway.get(link(pack, number, width=128)) for number in (0, 1)]

    for answer in answers:
        # A browser logs every answer of 400 and more; this one only fires the image's error event.
        assert (answer.status_code, answer.content) == (204, b"")
        assert answer.headers["atom-problem"] == "image_unreadable"
        assert "immutable" in answer.headers["cache-control"]
    storage.objects().delete(key_of(pack))
    again = await gateway.get(link(pack, 1, width=128))
    assert (again.status_code, again.headers["atom-problem"]) == (204, "image_unreadable")


async def test_a_decompression_bomb_is_not_decoded(gateway: httpx.AsyncClient) -> None:
    small = png(1)
    # The header of a PNG: length and name (8 bytes), width and height, five more, checksum.
    header = b"IHDR" + (30_000).to_bytes(4, "big") * 2 + small[24:29]
    bomb = small[:12] + header + zlib.crc32(header).to_bytes(4, "big") + small[33:]
    pack = stored({"bomb.png": bomb})

    answer = await gateway.get(link(pack, width=128))

    assert (answer.status_code, answer.headers["atom-problem"]) == (204, "image_too_large")


@pytest.fixture
def limit_of_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pillow's limit as the server has it: workflows that other tests import set their own."""
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", MAX_OPENED)


@pytest.mark.usefixtures("limit_of_the_server")
@pytest.mark.parametrize("side", [15_812, 32_000])
def test_a_picture_that_is_too_large_is_said_to_be_that(side: int) -> None:
    made = io.BytesIO()
    Image.new("1", (side, side)).save(made, "PNG")

    assert unreadable_reason(made.getvalue()) == (
        "more than the 250,000,000 pixels up to which an image is opened here"
    )


@pytest.mark.usefixtures("limit_of_the_server")
@pytest.mark.parametrize(
    ("height", "form", "options", "status"),
    [
        (10_000, "PNG", {}, 200),
        (10_001, "PNG", {}, 204),
        # Decoded at an eighth of its size, but for a progressive one.
        (10_100, "JPEG", {}, 200),
        (10_100, "JPEG", {"progressive": True}, 204),
    ],
)
async def test_thumbnails_are_made_of_up_to_a_hundred_million_decoded_pixels(
    gateway: httpx.AsyncClient, height: int, form: str, options: dict[str, bool], status: int
) -> None:
    made = io.BytesIO()
    Image.new("1" if form == "PNG" else "L", (10_000, height)).save(made, form, **options)
    pack = stored({"large": made.getvalue()})

    answer = await gateway.get(link(pack, media_type=f"image/{form.lower()}", width=64))

    assert answer.status_code == status
    # Tiles are made of it.
    assert unreadable_reason(made.getvalue()) is None
    assert (decoding_problem(made.getvalue()) == "") is (status == 200)


async def test_damaged_bytes_are_never_served(gateway: httpx.AsyncClient) -> None:
    pack = stored({"a.png": png(1), "b.png": png(2)})
    bad = bytearray(pack.data)
    bad[pack.members[0].offset + 10] ^= 1
    storage.objects().put(key_of(pack), bytes(bad))

    whole = await gateway.get(link(pack, 0))
    thumb = await gateway.get(link(pack, 0, width=64))
    other = await gateway.get(link(pack, 1))

    assert (whole.status_code, whole.json()["code"]) == (502, "media_damaged")
    assert whole.json()["pack"] == pack.digest
    assert pack.digest in whole.json()["detail"]
    assert thumb.status_code == 502
    assert other.status_code == 200


async def test_a_pack_that_is_gone_is_a_clear_404(gateway: httpx.AsyncClient) -> None:
    pack = stored({"a.png": png(3)})
    storage.objects().delete(key_of(pack))

    answer = await gateway.get(link(pack))

    assert (answer.status_code, answer.json()["code"]) == (404, "media_missing")
    assert answer.json()["pack"] == pack.digest


@pytest.mark.parametrize("form", ["whole", "range", "thumbnail"])
async def test_while_the_store_is_away_one_is_asked_to_come_again(
    gateway: httpx.AsyncClient, settings: Any, form: str
) -> None:
    pack = stored({"a.png": png(7)})
    settings.S3_ENDPOINT_URL, settings.ATOM_STORE_PATIENCE_S = "http://127.0.0.1:9", 0.1
    storage.objects.cache_clear()
    media_server.cache_clear()
    try:
        address = link(pack, width=64 if form == "thumbnail" else 0)
        headers = {"Range": "bytes=3-9"} if form == "range" else {}
        answer = await gateway.get(address, headers=headers)
    finally:
        storage.objects.cache_clear()
        media_server.cache_clear()

    assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
    assert answer.headers["content-type"] == "application/problem+json"
    assert (answer.headers["cache-control"], answer.json()["code"]) == (
        "no-store",
        "object_store_away",
    )
    assert "127.0.0.1" not in answer.text


async def test_a_quarantined_pack_is_named(gateway: httpx.AsyncClient) -> None:
    pack = stored({"a.png": png(6)})
    storage.objects().copy(key_of(pack), f"p/{PROJECT}/quarantine/{pack.digest}.tar")
    storage.objects().delete(key_of(pack))

    answer = await gateway.get(link(pack))

    assert (answer.status_code, answer.json()["code"]) == (409, "pack_quarantined")
    assert pack.digest in answer.json()["detail"]
    assert "Push" in answer.json()["action"]


async def test_a_warm_pack_is_read_from_disk(gateway: httpx.AsyncClient) -> None:
    data = png(4)
    pack = stored({"a.png": data})
    folder = Path(settings.ATOM_HOME) / "cache" / PROJECT / "packs"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{pack.digest}.tar").write_bytes(pack.data)
    storage.objects().delete(key_of(pack))

    answer = await gateway.get(link(pack))

    assert (answer.status_code, answer.content) == (200, data)


async def test_a_changed_token_is_refused(gateway: httpx.AsyncClient) -> None:
    address = link(stored({"a.png": png(1)}))
    head, token, name = address.rsplit("/", 2)
    flipped = ("A" if token[0] != "A" else "B") + token[1:]

    for bad in (f"{head}/{flipped}/{name}", f"{head}/x/{name}", "/media/", "/media/a/b/c"):
        assert (await gateway.get(bad)).status_code == 404


async def test_a_token_of_another_purpose_or_day_is_refused(gateway: httpx.AsyncClient) -> None:
    pack = stored({"a.png": png(1)})
    member = pack.members[0]
    payload = {
        "k": key_of(pack), "o": member.offset, "n": member.size, "t": "image/png",
        "d": member.digest.hex()[:16], "e": int(time.time()) // 86_400, "w": 0, "dl": 0,
    }  # fmt: skip

    expired = await gateway.get(f"/media/{crypto.sign(payload, PURPOSE)}/a.png")
    foreign = await gateway.get(f"/media/{crypto.sign(payload, 'runner')}/a.png")

    assert (expired.status_code, expired.json()["code"]) == (410, "media_link_expired")
    assert (foreign.status_code, foreign.json()["code"]) == (404, "media_link_invalid")


@pytest.mark.parametrize(
    "path", ["空 白/图片 #1?.png", "a/quote'\"\\.png", "nl\n.png", "🙂%2F.png"]
)
async def test_odd_names_come_through(gateway: httpx.AsyncClient, path: str) -> None:
    data = png(5)
    pack = stored({path: data})

    answer = await gateway.get(link(pack, download=True))

    assert answer.content == data
    name = quote(path.rsplit("/", 1)[-1], safe="")
    assert answer.headers["content-disposition"] == f"attachment; filename*=UTF-8''{name}"


async def test_only_get_and_head_are_answered(gateway: httpx.AsyncClient) -> None:
    answer = await gateway.post(link(stored({"a.png": png(1)})))

    assert (answer.status_code, answer.json()["code"]) == (405, "method_not_allowed")


async def test_health_needs_nothing(gateway: httpx.AsyncClient) -> None:
    assert (await gateway.get("/healthz")).json() == {"status": "ok"}


def test_the_thumbnail_cache_drops_the_least_recently_used(tmp_path: Path) -> None:
    cache = ThumbCache(tmp_path, limit_bytes=1000)
    for number in range(9):
        cache.put(f"{number:02d}key", bytes(100), "image/webp")
        time.sleep(0.002)
    assert cache.get("00key") is not None

    cache.put("98key", bytes(200), "image/webp")

    assert cache.get("00key") is not None
    assert cache.get("01key") is None
    assert cache.get("98key") == (bytes(200), "image/webp")
