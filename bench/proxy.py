"""A slow road to a server on this machine: latency for each request, one bandwidth for all.

`python -m bench.proxy UPSTREAM_PORT LATENCY_S BYTES_PER_S SEED` prints its port and runs until its
standard input ends. The latency varies by a fifth, from the seed.
"""

from __future__ import annotations

import asyncio
import random
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field

_CHUNK_BYTES = 64 << 10


@dataclass
class Road:
    """Settings and counters that all connections share."""

    upstream_port: int
    latency_s: float
    bytes_per_s: float
    random: random.Random
    free_at: float = field(default_factory=time.monotonic)

    async def delay(self) -> None:
        """Wait as long as a request is on its way."""
        await asyncio.sleep(self.latency_s * self.random.uniform(0.9, 1.1))

    async def carry(self, size_bytes: int) -> None:
        """Wait until bytes have gone over the road, after those before them."""
        now = time.monotonic()
        self.free_at = max(now, self.free_at) + size_bytes / self.bytes_per_s
        # Waits of less than a millisecond are gathered: a timer is no finer.
        if self.free_at - now > 0.001:
            await asyncio.sleep(self.free_at - now)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Join a connection to one of the server's."""
        up_reader, up_writer = await asyncio.open_connection("127.0.0.1", self.upstream_port)
        await asyncio.gather(self._requests(reader, up_writer), self._answers(up_reader, writer))

    async def _requests(self, reader: asyncio.StreamReader, to: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(_CHUNK_BYTES):
                await self.delay()
                to.write(data)
                await to.drain()
        to.close()

    async def _answers(self, reader: asyncio.StreamReader, to: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(_CHUNK_BYTES):
                await self.carry(len(data))
                to.write(data)
                await to.drain()
        to.close()


async def _main(road: Road) -> None:
    server = await asyncio.start_server(road.serve, "127.0.0.1", 0)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()

    def watch() -> None:
        sys.stdin.read()
        loop.call_soon_threadsafe(ended.set)

    threading.Thread(target=watch, daemon=True).start()
    await ended.wait()


if __name__ == "__main__":
    port, latency_s, bytes_per_s, seed = sys.argv[1:]
    asyncio.run(_main(Road(int(port), float(latency_s), float(bytes_per_s), random.Random(seed))))
