"""Log frames: a runner spools and sends them, the server keeps them in streams and chunks.

A frame is a 20-byte big-endian header and its bytes:
    fd u8 (1 stdout, 2 stderr) · 3 zero bytes · length u32 · ts_ns u64 · lines u32 · bytes
Offsets count payload bytes only; one log is one byte sequence. A frame is a batch of whole lines
whenever the runner could make it one, so nothing here looks at single lines.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

HEADER = struct.Struct(">BxxxIQI")
MAX_FRAME_BYTES = 1024 * 1024
STDOUT, STDERR = 1, 2
STREAM_NAMES = {STDOUT: "stdout", STDERR: "stderr"}


class FrameError(ValueError):
    """The body is not a sequence of whole frames."""


@dataclass(frozen=True)
class Frame:
    """Bytes that one file descriptor wrote, at `byte_off` of the attempt's log."""

    fd: int
    byte_off: int
    ts_ns: int
    lines: int
    payload: bytes

    @property
    def end(self) -> int:
        """Offset of the first byte after the frame."""
        return self.byte_off + len(self.payload)


@dataclass(frozen=True)
class Extent:
    """The size of a body, from its headers only."""

    payload_bytes: int
    lines: int
    first_ts_ns: int


def encode(frames: Iterable[Frame]) -> bytes:
    """Return the frames as one body."""
    parts: list[bytes] = []
    for frame in frames:
        parts.append(HEADER.pack(frame.fd, len(frame.payload), frame.ts_ns, frame.lines))
        parts.append(frame.payload)
    return b"".join(parts)


def measure(body: bytes) -> Extent:
    """Check the headers of a body and add them up. Raises FrameError."""
    position = payload_bytes = lines = first_ts_ns = 0
    while position < len(body):
        if position + HEADER.size > len(body):
            raise FrameError(f"The header at byte {position} is cut off.")
        fd, length, ts_ns, frame_lines = HEADER.unpack_from(body, position)
        if fd not in STREAM_NAMES:
            raise FrameError(f"The frame at byte {position} names descriptor {fd}.")
        if length > MAX_FRAME_BYTES:
            raise FrameError(f"The frame at byte {position} has {length} bytes.")
        position += HEADER.size + length
        if position > len(body):
            raise FrameError(
                f"The last frame is cut off: {position - len(body)} bytes are missing."
            )
        first_ts_ns = first_ts_ns or ts_ns
        payload_bytes += length
        lines += frame_lines
    return Extent(payload_bytes, lines, first_ts_ns)


def decode(body: bytes, byte_off: int) -> Iterator[Frame]:
    """Yield the frames of a body that was measured before; its first byte is at `byte_off`."""
    position = 0
    while position < len(body):
        fd, length, ts_ns, lines = HEADER.unpack_from(body, position)
        position += HEADER.size
        yield Frame(fd, byte_off, ts_ns, lines, body[position : position + length])
        position += length
        byte_off += length


def cut(frames: Iterable[Frame], start: int, end: int) -> Iterator[Frame]:
    """Yield the parts of the frames that lie in [start, end)."""
    for frame in frames:
        if frame.end <= start:
            continue
        if frame.byte_off >= end:
            return
        yield frame if start <= frame.byte_off and frame.end <= end else _part(frame, start, end)


def _part(frame: Frame, start: int, end: int) -> Frame:
    first = max(0, start - frame.byte_off)
    payload = frame.payload[first : end - frame.byte_off]
    return Frame(frame.fd, frame.byte_off + first, frame.ts_ns, payload.count(b"\n"), payload)


def without_beginning(header: bytes, payload: bytes, skipped_bytes: int) -> tuple[bytes, bytes]:
    """Return the header and payload of a frame without its first bytes."""
    if skipped_bytes <= 0:
        return header, payload
    fd, _, ts_ns, _ = HEADER.unpack(header)
    rest = payload[skipped_bytes:]
    return HEADER.pack(fd, len(rest), ts_ns, rest.count(b"\n")), rest


def skip(body: bytes, payload_bytes: int) -> bytes:
    """Return the body without its first `payload_bytes` payload bytes."""
    if payload_bytes == 0:
        return body
    return encode(cut(decode(body, 0), payload_bytes, 1 << 62))
