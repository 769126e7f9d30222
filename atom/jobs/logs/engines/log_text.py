"""The text of log frames: characters stay whole, whichever frames, chunks or answers they span.

A character belongs to the frame that holds its last byte. So a reader that starts anywhere needs
the bytes of the characters that began before: at most three of each stream. Bytes that are no
UTF-8 become U+FFFD here and nowhere else: what is stored and downloaded stays as it was written.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable
from dataclasses import dataclass, replace

from atom_sdk.runner.frames import STDERR, STDOUT, Frame

# How far before a place to look for the last bytes of both streams.
LOOK_BACK_BYTES = 64 << 10
_MOST_BEGUN_BYTES = 3


@dataclass(frozen=True, slots=True)
class Begun:
    """The first bytes of a character that is not whole yet, of each stream."""

    stdout: bytes = b""
    stderr: bytes = b""

    def of(self, fd: int) -> bytes:
        """Return those of one stream."""
        return self.stdout if fd == STDOUT else self.stderr

    def having(self, fd: int, data: bytes) -> Begun:
        """Return the same with other bytes for one stream."""
        return replace(self, stdout=data) if fd == STDOUT else replace(self, stderr=data)


NOTHING = Begun()


def text_of(data: bytes) -> str:
    """Return the text of bytes whose last character may be cut off: then it is left out."""
    return codecs.utf_8_decode(data, "replace", False)[0]


def decode(frame: Frame, begun: Begun) -> tuple[str, Begun]:
    """Return the characters that end in a frame, and those that are begun after it."""
    before = begun.of(frame.fd)
    data = before + frame.payload
    text, used = codecs.utf_8_decode(data, "replace", False)
    rest = data[used:]
    return text, begun if rest == before else begun.having(frame.fd, rest)


def decode_all(frames: Iterable[Frame], begun: Begun, *, final: bool) -> list[str]:
    """Return the text of each frame; `final`: no byte comes after them."""
    last = dict.fromkeys((STDOUT, STDERR), -1)
    texts: list[str] = []
    for frame in frames:
        text, begun = decode(frame, begun)
        last[frame.fd] = len(texts)
        texts.append(text)
    for fd, at in last.items():
        if final and at >= 0 and begun.of(fd):
            texts[at] += "\N{REPLACEMENT CHARACTER}"
    return texts


def begun_after(frames: Iterable[Frame]) -> Begun:
    """Return the characters that are begun after the last of some frames."""
    ends = {STDOUT: b"", STDERR: b""}
    for frame in frames:
        ends[frame.fd] = (ends[frame.fd] + frame.payload[-_MOST_BEGUN_BYTES:])[-_MOST_BEGUN_BYTES:]
    rests = {
        fd: data[codecs.utf_8_decode(data, "replace", False)[1] :] for fd, data in ends.items()
    }
    return Begun(rests[STDOUT], rests[STDERR])
