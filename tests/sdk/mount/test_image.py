"""The image of a view, read by a reader of its own and by the tools of the format's authors."""

from __future__ import annotations

import shutil
import struct
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings

from atom_sdk.errors import PackMissingError
from atom_sdk.manifests import Entry
from atom_sdk.mount import syscalls
from atom_sdk.mount.erofs import ImageSummary, write_image
from atom_sdk.mount.errors import (
    ImageLimitError,
    NameConflictError,
    PackTooShortError,
    UnalignedPackError,
)
from atom_sdk.readers import LocalDataset, ViewIndex
from atom_sdk.readers.folder_view import FolderView
from tests.sdk.mount.conftest import Files, dataset_of, write_view
from tests.sdk.mount.oracle import Image
from tests.sdk.packs.strategies import file_sets
from tests.tiers import examples

PACK = bytes(range(32))
GIB = 1 << 30


def image_of(dataset: LocalDataset, folder: Path) -> Image:
    write_image(FolderView(dataset.index), dataset.pack_dir, folder / "image")
    packs = [dataset.pack_dir / f"{pack.hex()}.tar" for pack in dataset.index.packs]
    return Image(folder / "image", packs)


def contents(image: Image) -> dict[str, bytes]:
    return {path.decode(): image.read(inode) for path, inode in image.walk()}


def folders_above(path: str) -> set[str]:
    parts = path.split("/")
    return {"/".join(parts[:count]) for count in range(1, len(parts))}


def index_of(folder: Path, entries: list[Entry], pack_bytes: int) -> ViewIndex:
    """A view whose only pack is a hole of some size."""
    (folder / "packs").mkdir()
    with (folder / "packs" / f"{PACK.hex()}.tar").open("wb") as pack:
        pack.truncate(pack_bytes)
    return ViewIndex(write_view(folder, entries))


@settings(max_examples=examples(30))
@given(files=file_sets)
def test_an_image_shows_exactly_the_files_of_the_view(files: Files) -> None:
    with tempfile.TemporaryDirectory() as name:
        dataset = dataset_of(Path(name), files)
        if any(folders_above(path) & files.keys() for path in files):
            with pytest.raises(NameConflictError):
                image_of(dataset, Path(name))
        else:
            assert contents(image_of(dataset, Path(name))) == files


def odd_files() -> Files:
    """Empty files, block borders, names around "." and "/", deep and wide folders."""
    sizes = (0, 1, 4095, 4096, 4097, 8192)
    files = {f"sizes/{size}": bytes([size % 251]) * size for size in sizes}
    # As paths "a-b/x" comes before "a/x", as names "a" before "a-b"; "!" and "-" before ".".
    files |= {path: path.encode() for path in ("a-b/x", "a.b", "a/x", "a0/x", "!", "-rf", "..x")}
    files["/".join(f"{depth}" for depth in range(300))] = b"deep"
    files["é/e\u0301/😀\n中"] = b"odd"
    files["x" * 255] = b"long"
    return files | {f"wide/{number:05d}{'w' * (number % 200)}": b"" for number in range(2000)}


def test_odd_names_sizes_and_shapes_are_kept(tmp_path: Path) -> None:
    files = odd_files()
    image = image_of(dataset_of(tmp_path, files, packs=3), tmp_path)
    assert contents(image) == files


def test_the_tools_of_the_format_extract_the_same_files(tmp_path: Path) -> None:
    if shutil.which("fsck.erofs") is None:
        pytest.skip("needs fsck.erofs of erofs-utils")
    files = odd_files()
    dataset = dataset_of(tmp_path, files, packs=3)
    image = image_of(dataset, tmp_path)
    devices = [f"--device={pack}" for pack in image.packs]
    command = ["fsck.erofs", f"--extract={tmp_path / 'out'}", *devices, str(tmp_path / "image")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert {str(p.relative_to(tmp_path / "out")): p.read_bytes() for p in found} == files


def test_a_folder_may_hold_a_hundred_thousand_files(tmp_path: Path) -> None:
    entries = [Entry(f"one/{n:06d}", 0, PACK, None, None, PACK, 0) for n in range(100_000)]
    index = index_of(tmp_path, entries, 4096)
    summary = write_image(FolderView(index), tmp_path / "packs", tmp_path / "image")
    image = Image(tmp_path / "image", [tmp_path / "packs" / f"{PACK.hex()}.tar"])
    assert [path.decode() for path, _ in image.walk()] == [entry.path for entry in entries]
    assert summary == ImageSummary(100_000, 2, len(image.data))


def test_files_of_more_than_four_gibibytes_are_found_in_all_their_chunks(
    tmp_path: Path, kernel: None
) -> None:
    sizes = {"a": 5 * GIB + 7, "b": 100, "c": 4 * GIB - 1, "d": 2 * GIB + 40, "e": 9 * GIB}
    entries, start = [], 4096
    for path, size in sizes.items():
        entries.append(Entry(path, size, PACK, None, None, PACK, start))
        start += -(-size // 4096) * 4096
    index = index_of(tmp_path, entries, start)
    pack = tmp_path / "packs" / f"{PACK.hex()}.tar"
    marks = [(e.path, e.offset or 0, at) for e in entries for at in _marks(e.size)]
    with pack.open("r+b") as file:
        for path, offset, at in marks:
            file.seek(offset + at)
            file.write(_mark(path, at))
    write_image(FolderView(index), tmp_path / "packs", tmp_path / "image")
    found = dict(Image(tmp_path / "image", [pack]).walk())
    assert {path.decode(): inode.size for path, inode in found.items()} == sizes
    image = Image(tmp_path / "image", [pack])
    folder = tmp_path / "shown"
    folder.mkdir()
    syscalls.mount_file_system("erofs", tmp_path / "image", folder, [pack], [])
    try:
        for path, _, at in marks:
            assert image.read(found[path.encode()], at, 16) == _mark(path, at)
            with (folder / path).open("rb") as shown:
                shown.seek(at)
                assert shown.read(16) == _mark(path, at)
    finally:
        syscalls.unmount(folder)


def _marks(size: int) -> list[int]:
    """Places in a file: its start, around each chunk's border, its end."""
    borders = [at + off for at in range(2 * GIB, size, 2 * GIB) for off in (-16, 0)]
    return [0, *(at for at in borders if at + 16 <= size), size - 16]


def _mark(path: str, at: int) -> bytes:
    return struct.pack("<8sQ", path.encode(), at)


def test_the_same_view_gives_the_same_image(tmp_path: Path) -> None:
    dataset = dataset_of(tmp_path, odd_files(), packs=2)
    for name in ("one", "two"):
        write_image(FolderView(dataset.index), dataset.pack_dir, tmp_path / name, modified_at_s=7)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_a_missing_or_shortened_pack_is_an_error_before_anything_is_written(
    tmp_path: Path,
) -> None:
    dataset = dataset_of(tmp_path, {"a": bytes(9000)})
    (pack,) = dataset.pack_dir.iterdir()
    with pack.open("r+b") as file:
        file.truncate(8192)
    with pytest.raises(PackTooShortError):
        image_of(dataset, tmp_path)
    pack.unlink()
    with pytest.raises(PackMissingError):
        image_of(dataset, tmp_path)
    assert not (tmp_path / "image").exists()


def test_a_file_inside_a_block_is_an_error_with_its_name(tmp_path: Path) -> None:
    index = index_of(tmp_path, [Entry("a/b", 10, PACK, None, None, PACK, 512)], 4096)
    with pytest.raises(UnalignedPackError, match="'a/b' starts at byte 512"):
        write_image(FolderView(index), tmp_path / "packs", tmp_path / "image")


def test_more_packs_than_the_format_counts_are_an_error_with_the_limit(tmp_path: Path) -> None:
    (tmp_path / "packs").mkdir()
    entries = [
        Entry(f"{n:05d}", 0, PACK, None, None, n.to_bytes(32, "big"), 0) for n in range(65_536)
    ]
    index = ViewIndex(write_view(tmp_path, entries))
    with pytest.raises(ImageLimitError, match="65,535 packs; this needs 65,536"):
        write_image(FolderView(index), tmp_path / "packs", tmp_path / "image")
