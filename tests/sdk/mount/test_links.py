"""Symbolic links of a version in each way to mount: the same tree as the links themselves make."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from atom_sdk.client.pull.mounts import require_complete
from atom_sdk.manifests import ViewSelector
from atom_sdk.manifests.query import below
from atom_sdk.mount import mounts, syscalls
from atom_sdk.mount.erofs import ImageSummary, write_image
from atom_sdk.mount.errors import IncompleteViewError, MountLinkError, NameConflictError
from atom_sdk.mount.hardlinks import remove_links
from atom_sdk.mount.verify import verify_mount
from atom_sdk.readers import LocalDataset
from atom_sdk.readers.folder_view import FolderView
from tests.sdk.mount.conftest import Files, Mounter, dataset_of, why_not
from tests.sdk.mount.oracle import Image
from tests.sdk.mount.test_mounting import KILL, mount_elsewhere
from tests.tiers import examples

Tree = dict[str, bytes | str | None]
FILES: Files = {"cat/a.png": b"a" * 5000, "cat/b.png": b"b", "dog/a.png": b"d" * 4096}
INSIDE = {
    "16/cat.png": "../cat/a.png",
    "16/twice.png": "cat.png",
    "16/through.png": "../pets/b.png",
    "16/broken.png": "nothing.png",
    "only/links/é 😀.png": "../../dog/./a.png",
    "only/links/中文": "../../cat/нет",
    "pets": "cat",
    "pets-too": "./pets/",
    "round": "round",
    "top": "16/..",
}
LEAVING = {"out/outside": "../../elsewhere/x.png", "root": "/etc/hostname"}


def tree_of(folder: Path) -> Tree:
    """Bytes of files, targets of links and None for folders, by path; links are not followed."""
    found: Tree = {}
    for where, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(where, name)
            key = str(path.relative_to(folder))
            if path.is_symlink():
                found[key] = os.readlink(path)
            else:
                found[key] = None if path.is_dir() else path.read_bytes()
    return found


def made_of(folder: Path, files: Files, links: Mapping[str, str]) -> Tree:
    """The tree that plain files and `os.symlink` make."""
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    for path, target in links.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).symlink_to(target)
    return tree_of(folder)


def image_of(dataset: LocalDataset, folder: Path, *, unsafe_links: bool = False) -> Image:
    view = FolderView(dataset.index, unsafe_links=unsafe_links)
    write_image(view, dataset.pack_dir, folder / "image", modified_at_s=7)
    return Image(folder / "image", packs_of(dataset))


def packs_of(dataset: LocalDataset) -> list[Path]:
    return [dataset.pack_dir / f"{pack.hex()}.tar" for pack in dataset.index.packs]


def contents(image: Image) -> dict[str, bytes | str]:
    """Bytes of files and targets of links in an image."""
    return {
        path.decode(): image.readlink(inode).decode()
        if stat.S_ISLNK(inode.mode)
        else image.read(inode)
        for path, inode in image.walk()
    }


def plain(tree: Tree) -> dict[str, bytes | str]:
    return {path: value for path, value in tree.items() if value is not None}


@pytest.fixture
def dataset(tmp_path: Path) -> LocalDataset:
    return dataset_of(tmp_path, FILES, packs=2, links={**INSIDE, **LEAVING})


def test_links_are_shown_as_links_and_those_that_leave_are_not(
    dataset: LocalDataset, mounter: Mounter, options: dict[str, object], tmp_path: Path
) -> None:
    record = mounter.mount(dataset, verify_all=True, **options)
    expected = made_of(tmp_path / "made", FILES, INSIDE)
    assert tree_of(mounter.folder) == expected
    # Nothing counts twice, though readers see links to files as files.
    assert len(dataset) == 7
    assert (record.files, record.size_bytes) == (3, sum(map(len, FILES.values())))
    assert (record.links, record.links_left_out, record.verified_files) == (10, 2, 3)
    assert not (mounter.folder / "out").exists()
    assert (mounter.folder / "only/links/é 😀.png").read_bytes() == FILES["dog/a.png"]
    assert (mounter.folder / "pets-too/b.png").read_bytes() == b"b"
    found = (mounter.folder / "pets").lstat()
    assert (found.st_mode, found.st_size, found.st_nlink) == (0o120777, 3, 1)
    listed = subprocess.run(
        ["find", ".", "-type", "l", "-printf", "%p\t%l\n"],
        cwd=mounter.folder,
        capture_output=True,
        check=True,
        encoding="utf-8",
    )
    lines = sorted(f"./{path}\t{target}" for path, target in INSIDE.items())
    assert sorted(listed.stdout.splitlines()) == lines
    assert mounter.unmount() == []
    assert not mounter.folder.exists()
    assert mounter.kept() == {".lock"}


def test_links_that_leave_are_shown_on_request(
    dataset: LocalDataset, mounter: Mounter, options: dict[str, object], tmp_path: Path
) -> None:
    record = mounter.mount(dataset, unsafe_links=True, **options)
    assert tree_of(mounter.folder) == made_of(tmp_path / "made", FILES, {**INSIDE, **LEAVING})
    assert (record.links, record.links_left_out) == (12, 0)
    assert mounter.unmount() == []
    assert not mounter.folder.exists()


def test_a_version_of_links_alone_is_shown(
    tmp_path: Path, mounter: Mounter, options: dict[str, object]
) -> None:
    links = {"a/broken": "../nothing", "a/up": "..", "round": "round", "to": "a", **LEAVING}
    dataset = dataset_of(tmp_path, {}, packs=0, links=links)
    assert (len(dataset), dataset.index.packs) == (0, [])
    record = mounter.mount(dataset, verify_all=True, **options)
    shown = {path: target for path, target in links.items() if path not in LEAVING}
    assert tree_of(mounter.folder) == made_of(tmp_path / "made", {}, shown)
    assert (record.files, record.links, record.links_left_out) == (0, 4, len(LEAVING))
    assert mounter.unmount() == []
    assert not mounter.folder.exists()


def test_long_targets_reach_the_program_whole(
    tmp_path: Path, mounter: Mounter, options: dict[str, object]
) -> None:
    links = {f"{size:04d}": target_of(size) for size in SIZES}
    mounter.mount(dataset_of(tmp_path, {"f": b"x"}, links=links), verify_all=True, **options)
    assert {name: os.readlink(mounter.folder / name) for name in links} == links


# Around the cell (32 and 96 bytes), the block (4,064), and the longest that the kernel takes.
SIZES = (1, 31, 32, 33, 95, 96, 97, 1000, 2016, 2017, 4063, 4064, 4065, 4094, 4095)


def target_of(size: int) -> str:
    """A target of so many bytes, of names that a folder may have."""
    return "/".join(["n" * 200] * 21)[:size].rstrip("/").ljust(size, "x")


def test_targets_at_the_borders_of_blocks_are_kept(tmp_path: Path) -> None:
    # Each of them in each place of a block.
    links = {f"{n:04d}": target_of(SIZES[n * 7 % len(SIZES)]) for n in range(1500)}
    image = image_of(dataset_of(tmp_path, {"f": b"x"}, links=links), tmp_path)
    assert contents(image) == {"f": b"x", **links}


def test_a_folder_may_hold_many_links(tmp_path: Path) -> None:
    links = {f"l/{n:06d}": f"../{n % 7}" for n in range(30_000)}
    files = {str(n): bytes([n]) for n in range(7)}
    dataset = dataset_of(tmp_path, files, links=links)
    assert len(dataset) == 30_007
    summary = write_image(FolderView(dataset.index), dataset.pack_dir, tmp_path / "image")
    image = Image(tmp_path / "image", packs_of(dataset))
    assert contents(image) == {**files, **links}
    assert summary == ImageSummary(7, 2, len(image.data), 30_000)


def test_the_same_view_gives_the_same_image_and_links_change_it(tmp_path: Path) -> None:
    links = {**INSIDE, "far": "x" * 4095, "long": "y" * 500}
    first = dataset_of(tmp_path / "1", FILES, links=links)
    # In another order, and with links that leave.
    again = dataset_of(tmp_path / "2", FILES, links=dict([*links.items()][::-1]) | LEAVING)
    other = dataset_of(tmp_path / "3", FILES, links={**links, "pets": "dog"})
    for name, dataset in (("1", first), ("2", again), ("3", other)):
        image_of(dataset, tmp_path / name)
    data = [(tmp_path / name / "image").read_bytes() for name in ("1", "2", "3")]
    # The UUID is made of the version's content.
    assert data[0][:1072] == data[1][:1072]
    assert data[0][1088:] == data[1][1088:]
    assert data[0][1088:] != data[2][1088:]
    image_of(first, tmp_path)
    assert (tmp_path / "image").read_bytes() == data[0]


def test_the_tools_of_the_format_extract_the_same_links(
    dataset: LocalDataset, tmp_path: Path
) -> None:
    if shutil.which("fsck.erofs") is None:
        pytest.skip("needs fsck.erofs of erofs-utils")
    links = {**INSIDE, **{f"long/{size}": target_of(size) for size in SIZES}}
    dataset = dataset_of(tmp_path / "more", FILES, packs=2, links=links)
    image = image_of(dataset, tmp_path)
    devices = [f"--device={pack}" for pack in image.packs]
    command = ["fsck.erofs", f"--extract={tmp_path / 'out'}", *devices, str(tmp_path / "image")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert tree_of(tmp_path / "out") == made_of(tmp_path / "made", FILES, links)


NAMES = st.sampled_from(["a", "b", "c", "é", "d" * 200])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
PARTS = st.sampled_from(["a", "b", "c", "é", "..", ".", "", "d" * 200])
TARGETS = st.lists(PARTS, min_size=1, max_size=6).map("/".join).filter(bool)


@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.too_slow])
@given(tree=st.dictionaries(PATHS, st.one_of(st.binary(max_size=9), TARGETS), max_size=12))
def test_a_mounted_tree_is_the_one_that_was_pushed(tree: dict[str, bytes | str]) -> None:
    taken = {path for path in tree if any(other.startswith(f"{path}/") for other in tree)}
    tree = {"file": b"x", **{path: value for path, value in tree.items() if path not in taken}}
    files = {path: value for path, value in tree.items() if isinstance(value, bytes)}
    links = {path: value for path, value in tree.items() if isinstance(value, str)}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        dataset = dataset_of(folder, files, links=links)
        require_complete(dataset, len(files))
        leaving = dataset.index.links.leaving
        expected = made_of(
            folder / "made", files, {p: t for p, t in links.items() if p not in leaving}
        )
        assert contents(image_of(dataset, folder)) == plain(expected)
        every_link = made_of(folder / "whole", files, links)
        assert contents(image_of(dataset, folder, unsafe_links=True)) == plain(every_link)
        mounter = Mounter(folder)
        for how in ("hardlinks", *(() if why_not("erofs") else ("erofs",))):
            mounter.mount(dataset, how=how)
            assert tree_of(mounter.folder) == expected
            assert mounter.unmount() == []
            assert not mounter.folder.exists()
        # A link that is shown leads to nothing outside, wherever the folder is.
        top = os.path.realpath(folder / "made")
        for path in links.keys() - leaving.keys():
            # Python resolves a circle wrongly where a target has two slashes.
            with suppress(OSError):
                real = os.path.realpath(folder / "made" / path, strict=True)
                assert real == top or real.startswith(f"{top}/")


def test_a_part_shows_a_link_without_its_file_as_that_file(
    tmp_path: Path, mounter: Mounter, options: dict[str, object]
) -> None:
    selector = ViewSelector(where=below("16/", None))
    dataset = dataset_of(tmp_path, FILES, links={**INSIDE, **LEAVING}, selector=selector)
    record = mounter.mount(dataset, **options)
    assert tree_of(mounter.folder) == {
        "16": None,
        "16/broken.png": "nothing.png",
        "16/cat.png": FILES["cat/a.png"],
        "16/through.png": FILES["cat/b.png"],
        "16/twice.png": FILES["cat/a.png"],
    }
    assert (record.files, record.links, record.links_left_out) == (3, 1, 0)


def test_in_a_part_no_link_is_led_out_by_one_that_it_lacks(
    tmp_path: Path, mounter: Mounter
) -> None:
    """In the version `b/d` leads three folders down; without it, three dots lead above the top."""
    files = {"w": b"w", "p/q/r/g": b"g", "z/k": b"k"}
    up = "../b/d/../../../"
    links = {"b/d": "../p/q/r", "z/w": f"{up}w", "z/broken": f"{up}nothing"}
    whole = FolderView(dataset_of(tmp_path / "whole", files, links=links).index)
    assert (whole.links, whole.left_out) == (dict(sorted(links.items())), {})
    selector = ViewSelector(where=below("z/", None))
    part = dataset_of(tmp_path / "part", files, links=links, selector=selector)
    record = mounter.mount(part, how="hardlinks")
    assert tree_of(mounter.folder) == {"z": None, "z/k": b"k", "z/w": b"w"}
    assert (record.links, record.links_left_out) == (0, 1)


def test_unmounting_leaves_the_links_of_others(
    dataset: LocalDataset, mounter: Mounter, tmp_path: Path
) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "kept").write_text("kept")
    mounter.mount(dataset, how="hardlinks")
    folder = mounter.folder
    (folder / "own").symlink_to(mine)
    (folder / "pets").unlink()
    (folder / "pets").symlink_to("dog")
    (folder / "round").unlink()
    (folder / "round").write_text("replaced")
    # As the version has it, and yet not ours: it was not asked for.
    (folder / "root").symlink_to("/etc/hostname")
    assert mounter.unmount() == ["own", "pets", "root", "round"]
    assert tree_of(folder) == {
        "own": str(mine),
        "pets": "dog",
        "root": "/etc/hostname",
        "round": b"replaced",
    }
    assert (mine / "kept").exists()


def test_unmounting_removes_nothing_through_a_link(
    dataset: LocalDataset, mounter: Mounter, tmp_path: Path
) -> None:
    """Another folder may hold copies of the same files under the same names."""
    other = Mounter(tmp_path)
    other.folder = tmp_path / "other"
    other.mount(dataset, how="hardlinks")
    whole = tree_of(other.folder)
    mounter.mount(dataset, how="hardlinks")
    for name in ("cat", "only"):
        shutil.rmtree(mounter.folder / name)
        (mounter.folder / name).symlink_to(other.folder / name)
    assert mounter.unmount() == ["cat", "only"]
    assert tree_of(other.folder) == whole


def test_a_kill_while_links_are_made_hinders_nothing(
    dataset: LocalDataset, mounter: Mounter, tmp_path: Path
) -> None:
    done = mount_elsewhere(dataset, mounter, "hardlinks", KILL.format(name="_symlink", nth=5))
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert sum(isinstance(value, str) for value in tree_of(mounter.folder).values()) == 5
    mounter.mount(dataset, how="hardlinks")
    assert tree_of(mounter.folder) == made_of(tmp_path / "made", FILES, INSIDE)
    mounter.unmount()
    assert not mounter.folder.exists()


def test_a_wrong_link_is_found_and_none_is_followed(dataset: LocalDataset, tmp_path: Path) -> None:
    shown = tmp_path / "shown"
    made_of(shown, FILES, INSIDE)
    view = FolderView(dataset.index)
    assert verify_mount(view, shown) == 2
    (shown / "pets").unlink()
    with pytest.raises(MountLinkError, match="'pets' cannot be read"):
        verify_mount(view, shown)
    (shown / "pets").symlink_to("dog")
    with pytest.raises(MountLinkError, match="'pets' has another target"):
        verify_mount(view, shown)
    (shown / "pets").unlink()
    (shown / "pets").symlink_to("cat")
    (shown / "cat" / "b.png").rename(tmp_path / "away")
    (shown / "cat" / "b.png").symlink_to(tmp_path / "away")
    with pytest.raises(Exception, match=r"cat/b\.png.*cannot be read"):
        verify_mount(view, shown, every_file=True)
    assert remove_links(view, shown) == sorted([*FILES])


def test_a_version_lacks_files_and_not_links(tmp_path: Path) -> None:
    dataset = dataset_of(tmp_path, FILES, links={**INSIDE, **LEAVING})
    require_complete(dataset, 3)
    with pytest.raises(IncompleteViewError, match="Only 3 of the version's 4 files"):
        require_complete(dataset, 4)


@pytest.mark.parametrize("how", ["erofs", "hardlinks"])
def test_a_path_below_a_link_is_refused(tmp_path: Path, mounter: Mounter, how: str) -> None:
    if reason := why_not(how):
        pytest.skip(reason)
    dataset = dataset_of(tmp_path, {"a": b"1", "l/f": b"2"}, links={"l": "elsewhere"})
    with pytest.raises(NameConflictError, match="'l' is a file and a folder"):
        mounter.mount(dataset, how=how)
    assert not mounter.folder.exists()
    assert mounts(mounter.cache) == []


def test_the_kernel_reads_links_past_the_first_block_of_inodes(
    tmp_path: Path, kernel: None
) -> None:
    """Each width of inode, many times: no target may go on in the next block."""
    links = {f"{n % 5}/{n:05d}": target_of(1 + n * 37 % 4095) for n in range(4000)}
    dataset = dataset_of(tmp_path, {"f": b"x"}, links=links)
    image_of(dataset, tmp_path)
    shown = tmp_path / "shown"
    shown.mkdir()
    syscalls.mount_file_system("erofs", tmp_path / "image", shown, packs_of(dataset), [])
    try:
        assert {path: os.readlink(shown / path) for path in links} == links
    finally:
        syscalls.unmount(shown)
