"""Reads an EROFS image and its packs, written from the kernel's documentation and not from ours.

Only what an image over packs may contain: folders in plain blocks, files in chunks on devices, the
targets of links behind their inodes or in plain blocks.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

BLOCK = 4096


@dataclass(frozen=True)
class Inode:
    """One inode: mode, size in bytes, links, and where its data is; `chunks_at` is behind it."""

    mode: int
    size: int
    links: int
    layout: int
    where: int
    chunks_at: int


class Image:
    """An image in memory; files are read from the packs, which may be larger than the memory."""

    def __init__(self, path: Path, packs: Sequence[Path]) -> None:
        self.data = path.read_bytes()
        self.packs = packs
        magic, _, _, bits, _, self.root = struct.unpack_from("<IIIBBH", self.data, 1024)
        blocks, self.meta = struct.unpack_from("<II", self.data, 1024 + 36)
        devices, slot = struct.unpack_from("<HH", self.data, 1024 + 86)
        assert (magic, bits, devices) == (0xE0F5E1E2, 12, len(packs))
        assert blocks * BLOCK == len(self.data)
        for number, pack in enumerate(packs):
            tag, size = struct.unpack_from("<64sI", self.data, (slot + number) * 128)
            assert (tag.decode(), size * BLOCK) == (pack.stem, pack.stat().st_size)

    def walk(self) -> Iterator[tuple[bytes, Inode]]:
        """Every file with its path, depth first, names in the stored order."""
        yield from self._walk(b"", self.root, self.root)

    def read(self, inode: Inode, offset: int = 0, length: int | None = None) -> bytes:
        """Bytes of a file."""
        end = inode.size if length is None else min(inode.size, offset + length)
        parts = []
        while offset < end:
            chunk_bytes = BLOCK << (inode.where & 31)
            chunk, inside = divmod(offset, chunk_bytes)
            _, device, block = struct.unpack_from("<HHI", self.data, inode.chunks_at + 8 * chunk)
            take = min(end - offset, chunk_bytes - inside)
            with self.packs[device - 1].open("rb") as pack:
                pack.seek(block * BLOCK + inside)
                parts.append(pack.read(take))
            offset += take
        return b"".join(parts)

    def readlink(self, inode: Inode) -> bytes:
        """The target of a symbolic link."""
        assert inode.mode == 0o120777
        at = inode.where * BLOCK
        if inode.layout == 2:
            at = inode.chunks_at
            # The kernel refuses the inode otherwise.
            assert at // BLOCK == (at + inode.size - 1) // BLOCK
        else:
            assert inode.layout == 0
        return self.data[at : at + inode.size]

    def inode(self, number: int) -> Inode:
        at = self.meta * BLOCK + 32 * number
        format_, _, mode = struct.unpack_from("<HHH", self.data, at)
        layout = format_ >> 1 & 7
        if format_ & 1:
            size, where = struct.unpack_from("<QI", self.data, at + 8)
            (links,) = struct.unpack_from("<I", self.data, at + 44)
            return Inode(mode, size, links, layout, where, at + 64)
        links, size, _, where = struct.unpack_from("<HIII", self.data, at + 6)
        return Inode(mode, size, links, layout, where, at + 32)

    def names(self, folder: Inode) -> list[tuple[bytes, int, int]]:
        """Names of a folder in the stored order, each with its inode's number and its kind."""
        found = []
        for start in range(0, folder.size, BLOCK):
            at = folder.where * BLOCK + start
            block = self.data[at : at + min(BLOCK, folder.size - start)]
            heads = [struct.unpack_from("<QHBB", block, 0)]
            count = heads[0][1] // 12
            heads = [struct.unpack_from("<QHBB", block, 12 * n) for n in range(count)]
            ends = [head[1] for head in heads[1:]] + [len(block)]
            found += [
                (block[offset:end].rstrip(b"\0"), number, kind)
                for (number, offset, kind, _), end in zip(heads, ends, strict=True)
            ]
        return found

    def _walk(self, prefix: bytes, number: int, above: int) -> Iterator[tuple[bytes, Inode]]:
        folder = self.inode(number)
        names = self.names(folder)
        # The kernel searches names by halving.
        assert [name for name, _, _ in names] == sorted({name for name, _, _ in names})
        found = {name: target for name, target, _ in names}
        assert (found[b"."], found[b".."]) == (number, above)
        folders = 0
        for name, target, kind in names:
            if name in {b".", b".."}:
                continue
            inode = self.inode(target)
            assert kind == {0o04: 2, 0o10: 1, 0o12: 7}[inode.mode >> 12]
            if kind == 2:
                folders += 1
                yield from self._walk(prefix + name + b"/", target, number)
            else:
                assert inode.links == 1
                yield prefix + name, inode
        assert folder.links == 2 + folders
