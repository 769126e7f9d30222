"""How much of originals is in memory while many thumbnails are asked for."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from atom.core import storage
from atom.gateway.budgets import ByteBudget
from atom.gateway.links import MediaLink, open_link
from atom.gateway.media import MediaServer
from atom.gateway.sources import MediaSource
from atom.gateway.thumb_cache import ThumbCache
from tests.datasets.pushing import png
from tests.gateway.test_media import link, stored


class Counted(MediaSource):
    """Counts the originals that are read for a thumbnail."""

    originals = 0

    def whole(self, link: MediaLink) -> bytes:
        data = super().whole(link)
        self.originals += bool(link.width)
        return data


async def test_originals_that_wait_for_a_decoder_are_bounded_in_bytes(tmp_path: Path) -> None:
    pack = stored({f"{number}.png": png(number) for number in range(4)})
    links = [open_link(link(pack, row, width=64).rsplit("/", 2)[1], "") for row in range(4)]
    source = Counted(storage.objects(), tmp_path)
    room = links[0].size_bytes + links[1].size_bytes
    server = MediaServer(source, ThumbCache(tmp_path / "thumbs", 1 << 20), originals_bytes=room)
    busy = threading.Event()
    for _ in range(2):
        server._decoders.submit(busy.wait)
    try:
        asked = [asyncio.create_task(server.answer(each, {})) for each in links]
        # Meanwhile whole files come as ever, by the same readers.
        for each in links * 5:
            assert (await server.answer(replace(each, width=0), {})).status == 200
        assert source.originals <= 2
    finally:
        busy.set()
    assert [answer.status for answer in await asyncio.gather(*asked)] == [200] * 4
    assert source.originals == 4
    server.close()


async def test_bytes_are_lent_in_turn_and_come_back_from_who_leaves() -> None:
    budget = ByteBudget(10)
    order: list[int] = []

    async def use(size_bytes: int) -> None:
        async with budget.lent(size_bytes):
            order.append(size_bytes)
            await asyncio.sleep(0)
            if size_bytes == 6:
                raise KeyError

    async with budget.lent(8):
        large, gone, failing, small = (asyncio.create_task(use(size)) for size in (99, 5, 6, 1))
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.sleep(0)
        assert order == [], "what is small does not overtake what is large"
    await large
    with pytest.raises(KeyError):
        await failing
    await small
    async with budget.lent(10):
        assert order == [99, 6, 1]
