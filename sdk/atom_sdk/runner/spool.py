"""Log frames on disk until the server has them.

Files `log-<offset>.frames`, each named by the offset of its first payload byte. Appending blocks
when too much is unacknowledged: the pipe fills and the command waits, so nothing is dropped.
"""

from __future__ import annotations

import errno
import os
import struct
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

HEADER = struct.Struct(">BxxxIQI")
SEGMENT_BYTES = 4 * 1024 * 1024
DISK_FULL_RETRY_S = 1.0


class Spool:
    """An append-only byte sequence in frames, with one writer and one reader.

    `end` is the offset after the last byte, `acked` the offset that the server holds.
    """

    def __init__(self, folder: Path, limit_bytes: int) -> None:
        """Open a folder, going on where an earlier runner was cut off."""
        self._folder = folder
        self._limit_bytes = limit_bytes
        self._changed = threading.Condition()
        self._released = False
        self.closed = False
        self._starts = sorted(int(path.name[4:-7]) for path in folder.glob("log-*.frames"))
        self.acked = self._starts[0] if self._starts else 0
        self.end, self.lines = self._recover()
        self._file = self._open_segment() if not self._starts else self._reopen_last()
        self._cursor = (self.acked, self.acked, 0)  # offset, its segment, place in its file

    def append(self, fd: int, ts_ns: int, payload: bytes) -> None:
        """Add one frame; wait while too much is unacknowledged, or the disk is full.

        On a full disk the frame is left out once the spool is released; so is one that comes
        after the end.
        """
        lines = payload.count(b"\n")
        with self._changed:
            if self.closed:
                return
            while self.end - self.acked >= self._limit_bytes and not self._released:
                self._changed.wait(1.0)
            if not self._write(HEADER.pack(fd, len(payload), ts_ns, lines) + payload):
                return
            self.end += len(payload)
            self.lines += lines
            if self._file.tell() >= SEGMENT_BYTES:
                self._file.close()
                self._file = self._open_segment()
            self._changed.notify_all()

    def wait_for_more(self, offset: int, timeout_s: float) -> bool:
        """Wait for a byte after `offset`, or the end of all; return whether there is one."""
        with self._changed:
            if self.end <= offset and not self.closed:
                self._changed.wait(timeout_s)
            return self.end > offset

    def read(self, offset: int, max_bytes: int) -> tuple[bytes, int]:
        """Return (body of frames, payload bytes) from `offset`, one frame at least if any."""
        parts: list[bytes] = []
        payload_bytes = 0
        for header, payload in self._frames(offset):
            if parts and payload_bytes + len(payload) > max_bytes:
                break
            parts.append(header + payload)
            payload_bytes += len(payload)
        return b"".join(parts), payload_bytes

    def ack(self, offset: int) -> None:
        """Note what the server holds and delete the files that hold nothing else."""
        with self._changed:
            self.acked = max(self.acked, min(offset, self.end))
            # The newest file always stays: its tail is evidence for a drain.
            while len(self._starts) > 1 and self._starts[1] <= self.acked:
                self._path(self._starts.pop(0)).unlink()
            self._changed.notify_all()

    @property
    def first(self) -> int:
        """The oldest offset that is still on disk."""
        return self._starts[0]

    def close(self) -> None:
        """Say that no more frames come; what is there can still be read."""
        with self._changed:
            self.closed = True
            self._file.close()
            self._changed.notify_all()

    def release(self) -> None:
        """Never block again: the runner is ending and nobody will acknowledge."""
        with self._changed:
            self._released = True
            self._changed.notify_all()

    def tail(self, max_bytes: int) -> bytes:
        """Return the last payload bytes that are still on disk."""
        kept = b""
        for start in self._starts[-2:]:
            for _, _, payload in _scan(self._path(start)):
                kept = (kept + payload)[-max_bytes:]
        return kept

    def _write(self, frame: bytes) -> bool:
        """Return whether the frame is on the disk; called with the lock held."""
        # Unbuffered: a killed runner leaves at most one cut-off frame.
        start = self._file.tell()
        while True:
            try:
                if self._file.write(frame) == len(frame):
                    return True
            except OSError as error:
                if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                    raise
            # The disk is full: the command waits, as it does when the server is away.
            self._file.truncate(start)
            self._file.seek(start)
            if self._released:
                return False
            # Others go on meanwhile: what is acknowledged makes room.
            self._changed.wait(DISK_FULL_RETRY_S)

    def _frames(self, offset: int) -> Iterator[tuple[bytes, bytes]]:
        at, segment, position = self._seek(offset)
        while at < self.end:
            with open(str(self._path(segment)), "rb") as file:
                file.seek(position)
                while at < self.end:
                    header = file.read(HEADER.size)
                    if len(header) < HEADER.size:
                        break
                    payload = file.read(HEADER.unpack(header)[1])
                    self._cursor = (at, segment, position)
                    position += HEADER.size + len(payload)
                    at += len(payload)
                    if at > offset:
                        yield _cut(header, payload, offset - (at - len(payload)))
            following = self._after(segment)
            if following == segment:
                return
            segment, position = following, 0

    def _seek(self, offset: int) -> tuple[int, int, int]:
        # The cursor makes reading on from the last batch cost one frame, not a segment.
        if self._cursor[0] <= offset and self._cursor[1] in self._starts:
            return self._cursor
        segment = max(start for start in self._starts if start <= max(offset, self._starts[0]))
        return segment, segment, 0

    def _after(self, segment: int) -> int:
        with self._changed:
            return min((start for start in self._starts if start > segment), default=segment)

    def _path(self, start: int) -> Path:
        return self._folder / f"log-{start:020d}.frames"

    def _open_segment(self) -> BinaryIO:
        if self.end not in self._starts:
            self._starts.append(self.end)
        return cast(BinaryIO, open(str(self._path(self.end)), "ab", buffering=0))

    def _reopen_last(self) -> BinaryIO:
        return cast(BinaryIO, open(str(self._path(self._starts[-1])), "ab", buffering=0))

    def _recover(self) -> tuple[int, int]:
        end, lines = self.acked, 0
        for start in self._starts:
            good_bytes = 0
            for size_bytes, frame_lines, payload in _scan(self._path(start)):
                good_bytes += size_bytes
                end += len(payload)
                lines += frame_lines
            os.truncate(str(self._path(start)), good_bytes)
        return end, lines


def _scan(path: Path) -> Iterator[tuple[int, int, bytes]]:
    """Yield (frame bytes, newlines, payload) of the whole frames of a file."""
    with open(str(path), "rb") as file:
        while True:
            header = file.read(HEADER.size)
            if len(header) < HEADER.size:
                return
            _, length, _, lines = HEADER.unpack(header)
            payload = file.read(length)
            if len(payload) < length:
                return
            yield HEADER.size + length, lines, payload


def _cut(header: bytes, payload: bytes, skipped_bytes: int) -> tuple[bytes, bytes]:
    if skipped_bytes <= 0:
        return header, payload
    fd, _, ts_ns, _ = HEADER.unpack(header)
    rest = payload[skipped_bytes:]
    return HEADER.pack(fd, len(rest), ts_ns, rest.count(b"\n")), rest
