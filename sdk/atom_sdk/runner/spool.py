"""Log frames on disk until the server has them.

Files `log-<offset>.frames`, each named by the offset of its first payload byte. Frames that a full,
read-only or failing disk does not take are held in memory, up to a megabyte, and sent from there.
Appending blocks when more is held or too much is unacknowledged: the pipe fills and the command
waits, so nothing is dropped.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, cast

from . import disk
from .frames import HEADER, without_beginning

SEGMENT_BYTES = 4 * 1024 * 1024
HELD_BYTES = 1024 * 1024


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
        self._starts = sorted(int(path.name[4:-7]) for path in folder.glob("log-*.frames")) or [0]
        self.acked = self._starts[0]
        # Opened by the first write: a disk that takes none can still be read.
        self._file: BinaryIO | None = None
        self._is_torn = False
        self.end, self.lines, self._file_bytes = self._recover()
        self._stored_end = self.end
        self._held: deque[tuple[bytes, bytes]] = deque()
        self._held_bytes = 0
        self._cursor = (self.acked, self.acked, 0)  # offset, its segment, place in its file

    def append(self, fd: int, ts_ns: int, payload: bytes) -> None:
        """Add one frame; wait while too much is unacknowledged, or refused by the disk.

        Frames that the disk refuses are left out once the spool is released, and so are late ones.
        """
        lines = payload.count(b"\n")
        header = HEADER.pack(fd, len(payload), ts_ns, lines)
        with self._changed:
            if self.closed:
                return
            while self.end - self.acked >= self._limit_bytes and not self._released:
                self._changed.wait(1.0)
            # The command waits, as it does when the server is away.
            while not self._keep(header, payload):
                if self._released:
                    return
                # Others go on meanwhile: what is acknowledged makes room.
                self._changed.wait(disk.RETRY_S)
            self.end += len(payload)
            self.lines += lines
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
            with disk.suppressing_refusals():
                while len(self._starts) > 1 and self._starts[1] <= self.acked:
                    self._path(self._starts[0]).unlink()
                    self._starts.pop(0)
            self._changed.notify_all()

    @property
    def first(self) -> int:
        """The oldest offset that is still on disk."""
        return self._starts[0]

    def close(self) -> None:
        """Say that no more frames come; what is there can still be read."""
        with self._changed:
            if not self.closed:
                self._store_held()
            self.closed = True
            with disk.suppressing_refusals():
                if self._file:
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

    def _keep(self, header: bytes, payload: bytes) -> bool:
        """Return whether a frame is on the disk or held; called with the lock held."""
        if self._store_held() and self._store(header, payload):
            return True
        if self._held_bytes + len(payload) > HELD_BYTES:
            return False
        self._held.append((header, payload))
        self._held_bytes += len(payload)
        return True

    def _store_held(self) -> bool:
        """Return whether nothing is held any more."""
        while self._held:
            header, payload = self._held[0]
            if not self._store(header, payload):
                return False
            self._held.popleft()
            self._held_bytes -= len(payload)
        return True

    def _store(self, header: bytes, payload: bytes) -> bool:
        """Return whether the disk has taken the frame that follows what it has."""
        frame = header + payload
        try:
            file = self._writable()
            # Unbuffered: a killed runner leaves at most one cut-off frame.
            self._is_torn = True
            if file.write(frame) < len(frame):
                return False
        except OSError as error:
            if not disk.refusal(error):
                raise
            return False
        self._is_torn = False
        self._file_bytes += len(frame)
        self._stored_end += len(payload)
        return True

    def _writable(self) -> BinaryIO:
        """Return the file that the next frame goes to, without what was cut off at its end."""
        if self._file is None:
            self._file = self._open(self._starts[-1])
        if self._is_torn:
            self._file.truncate(self._file_bytes)
            self._file.seek(self._file_bytes)
            self._is_torn = False
        if self._file_bytes >= SEGMENT_BYTES:
            ended, self._file = self._file, self._open(self._stored_end)
            self._file_bytes = 0
            self._starts.append(self._stored_end)
            with disk.suppressing_refusals():
                ended.close()
        return self._file

    def _frames(self, offset: int) -> Iterator[tuple[bytes, bytes]]:
        at, segment, position = self._seek(offset)
        while at < self._stored_end:
            with open(str(self._path(segment)), "rb") as file:
                file.seek(position)
                while at < self._stored_end:
                    header = file.read(HEADER.size)
                    if len(header) < HEADER.size:
                        break
                    payload = file.read(HEADER.unpack(header)[1])
                    self._cursor = (at, segment, position)
                    position += HEADER.size + len(payload)
                    at += len(payload)
                    if at > offset:
                        yield without_beginning(header, payload, offset - (at - len(payload)))
            following = self._after(segment)
            if at < self._stored_end and following == segment:
                return
            segment, position = following, 0
        yield from self._held_frames(max(offset, at))

    def _held_frames(self, offset: int) -> Iterator[tuple[bytes, bytes]]:
        with self._changed:
            at, held = self._stored_end, list(self._held)
        if at > offset:
            # Stored since the files were read: they are read once more, for all that they have.
            yield from self._frames(offset)
            return
        for header, payload in held:
            at += len(payload)
            if at > offset:
                yield without_beginning(header, payload, offset - (at - len(payload)))

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

    def _open(self, start: int) -> BinaryIO:
        return cast(BinaryIO, open(str(self._path(start)), "ab", buffering=0))

    def _recover(self) -> tuple[int, int, int]:
        """Return the end, the lines, and the bytes of whole frames in the last file."""
        end, lines, good_bytes = self.acked, 0, 0
        for start in self._starts:
            good_bytes = 0
            for size_bytes, frame_lines, payload in _scan(self._path(start)):
                good_bytes += size_bytes
                end += len(payload)
                lines += frame_lines
        # Only the last file can have been cut off: what is left of it is removed before a write.
        with suppress(FileNotFoundError):
            self._is_torn = self._path(self._starts[-1]).stat().st_size > good_bytes
        return end, lines, good_bytes


def _scan(path: Path) -> Iterator[tuple[int, int, bytes]]:
    """Yield (frame bytes, newlines, payload) of the whole frames of a file."""
    with suppress(FileNotFoundError), open(str(path), "rb") as file:
        while True:
            header = file.read(HEADER.size)
            if len(header) < HEADER.size:
                return
            _, length, _, lines = HEADER.unpack(header)
            payload = file.read(length)
            if len(payload) < length:
                return
            yield HEADER.size + length, lines, payload
