"""The hard-link way: a tree of links to verified, read-only copies of the files in the cache.

Layout: `<cache>/files/<2 hex>/<hex of the content's digest>`. It needs no rights, but the space of
one more copy, and a folder on the cache's own file system.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from atom_sdk.errors import PackStoreFullError
from atom_sdk.mount.erofs.tree import build_tree
from atom_sdk.mount.errors import MountUnavailableError
from atom_sdk.mount.plan import MountPlan
from atom_sdk.packs import FileSink
from atom_sdk.readers import LocalDataset, Sample
from atom_sdk.readers.folder_view import FolderView

_MODE = 0o444
# All our copies have this modification time: whatever has another one is not ours any more.
_MODIFIED_AT_S = 1_000_000_000
_SPARE_BYTES = 20 << 30
_FULL = {errno.ENOSPC, errno.EDQUOT}
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP}


def mount_links(plan: MountPlan) -> str:
    """Fill the folder with links; returns where they lead.

    Raises MountUnavailableError, NameConflictError.
    """
    # Names that no folder can hold are an error before the first link is made.
    build_tree(plan.view.path_array())
    files = plan.cache / "files"
    files.mkdir(parents=True, exist_ok=True)
    _check_same_file_system(files, plan.folder)
    with _one_at_a_time(files):
        try:
            _link_all(plan.dataset, plan.view, files, plan.folder)
        except MountUnavailableError:
            # The next way needs an empty folder.
            remove_links(plan.view, plan.folder)
            raise
        _trim(files, spare_limit_bytes())
    return str(files)


def spare_limit_bytes() -> int:
    """How much of the copies that no mount uses is kept: `ATOM_MOUNT_COPIES_BYTES`, or 20 GiB.

    Raises ValueError if it is not a number of bytes.
    """
    text = os.environ.get("ATOM_MOUNT_COPIES_BYTES", "")
    if text and not text.isdecimal():
        raise ValueError(f"ATOM_MOUNT_COPIES_BYTES must be a number of bytes, not {text!r}.")
    return int(text) if text else _SPARE_BYTES


def trim_copies(cache: Path) -> None:
    """Remove copies that no mount uses, those that were mounted longest ago first."""
    files = cache / "files"
    if files.exists():
        with _one_at_a_time(files):
            _trim(files, spare_limit_bytes())


def _trim(files: Path, limit_bytes: int) -> None:
    spare = sorted(_spare_copies(files))
    size_bytes = sum(size for _, size, _ in spare)
    for _, size, path in spare:
        if size_bytes <= limit_bytes:
            return
        path.unlink(missing_ok=True)
        size_bytes -= size


def _spare_copies(files: Path) -> Iterator[tuple[int, int, Path]]:
    """When it was last linked or unlinked, the size and the path of each copy with no other name.

    A link changes the inode, so its change time is the time of the last mount or unmount. The time
    of the last access is not kept on many machines.
    """
    for path in files.glob("??/*"):
        with suppress(FileNotFoundError):
            found = path.stat()
            if found.st_nlink == 1:
                yield found.st_ctime_ns, found.st_size, path


def remove_links(view: FolderView, folder: Path) -> list[str]:
    """Remove the links of a view, of both kinds, and the folders that this leaves empty.

    Returns the paths of what is left: files and links that were added or replaced since.
    """
    top = os.fsencode(folder)
    # Whether each folder is still one: through a link that somebody put there nothing is removed.
    are_folders: dict[bytes, bool] = {b"": True}
    for file, size in enumerate(view.sizes.tolist()):
        path = view.path_of(file).encode()
        if _is_below(top, path, are_folders) and _is_ours(top + b"/" + path, size):
            os.unlink(top + b"/" + path)
    for name, target in view.links.items():
        path = name.encode()
        if _is_below(top, path, are_folders) and _leads_to(top + b"/" + path, target.encode()):
            os.unlink(top + b"/" + path)
    folders = [path for path, is_folder in are_folders.items() if path and is_folder]
    for below in sorted(folders, reverse=True):
        _remove_if_empty(top + b"/" + below)
    return [os.fsdecode(path[len(top) + 1 :]) for path in sorted(_files_below(top))]


def _is_below(top: bytes, path: bytes, are_folders: dict[bytes, bool]) -> bool:
    """Whether all folders above a path are folders and no links; remembers each of them."""
    above = os.path.dirname(path)
    missing, known = [], above
    while known not in are_folders:
        missing.append(known)
        known = os.path.dirname(known)
    for folder in reversed(missing):
        is_one = are_folders[os.path.dirname(folder)] and _is_folder(top + b"/" + folder)
        are_folders[folder] = is_one
    return are_folders[above]


def _is_folder(path: bytes) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


def _files_below(top: bytes) -> Iterator[bytes]:
    """Yield files, and links to folders, which are not entered."""
    for where, folders, names in os.walk(top):
        yield from (os.path.join(where, name) for name in names)
        places = (os.path.join(where, name) for name in folders)
        yield from (place for place in places if os.path.islink(place))


def _check_same_file_system(files: Path, folder: Path) -> None:
    if os.stat(files).st_dev != os.stat(folder).st_dev:
        raise MountUnavailableError(
            f"{folder} is on another file system than the cache {files}, and links cannot leave "
            "theirs"
        )


@contextmanager
def _one_at_a_time(files: Path) -> Iterator[None]:
    """Two mounts at once would extract the same files twice."""
    descriptor = os.open(files / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _link_all(dataset: LocalDataset, view: FolderView, files: Path, folder: Path) -> None:
    # Every copy is verified when it is made; the reader's own memory of it is of no use here.
    place = dataset.index.path, dataset.pack_dir
    reader = LocalDataset(*place, verify="always", repair=dataset.repair)
    made: set[bytes] = set()
    for row in view.rows.tolist():
        path = reader.index.path_of(row).encode()
        target = os.fsencode(folder) + b"/" + path
        above = os.path.dirname(target)
        if above not in made:
            _make_folders(above, made)
        digest = reader.index.digest_of(row).hex()
        _link(reader, row, files / digest[:2] / digest, target)
    # Last, and no path of a view goes through one: nothing above was made where a link leads.
    for name, leads_to in view.links.items():
        target = os.fsencode(folder) + b"/" + name.encode()
        if os.path.dirname(target) not in made:
            _make_folders(os.path.dirname(target), made)
        _symlink(leads_to.encode(), target, folder)


def _symlink(leads_to: bytes, place: bytes, folder: Path) -> None:
    try:
        os.symlink(leads_to, place)
    except OSError as error:
        if error.errno in _NO_LINKS:
            raise MountUnavailableError(f"{folder} allows no symbolic links") from error
        raise


def _make_folders(folder: bytes, made: set[bytes]) -> None:
    """Make a folder and those above it that are missing, for everybody to read."""
    missing = []
    while folder not in made and not os.path.isdir(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    made.add(folder)
    for one in reversed(missing):
        os.mkdir(one)
        # Whatever our own umask is: a job reads as another user.
        os.chmod(one, 0o755)
        made.add(one)


def _link(reader: LocalDataset, row: int, copy: Path, target: bytes) -> None:
    if not _is_ours(os.fsencode(copy), int(reader.index.sizes[row])):
        _extract(reader[row], copy)
    try:
        os.link(copy, target)
    except OSError as error:
        if error.errno == errno.EMLINK:
            # One inode cannot carry the names of all files with this content.
            _extract(reader[row], copy)
            os.link(copy, target)
        elif error.errno == errno.EPERM:
            raise MountUnavailableError(f"{copy.parent} allows no hard links") from error
        else:
            raise


def _extract(sample: Sample, copy: Path) -> None:
    copy.parent.mkdir(exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=".", dir=copy.parent)
    try:
        with open(descriptor, "wb", buffering=0) as file:
            FileSink(file.fileno()).write(sample.data)
            os.fchmod(file.fileno(), _MODE)
            os.utime(file.fileno(), (_MODIFIED_AT_S, _MODIFIED_AT_S))
        os.rename(name, copy)
    except OSError as error:
        if error.errno in _FULL:
            free = shutil.disk_usage(copy.parent).free
            raise PackStoreFullError(str(copy.parent), copy.name, free) from error
        raise
    finally:
        Path(name).unlink(missing_ok=True)


def _is_ours(path: bytes, size: int) -> bool:
    """Whether a file is an untouched copy: nobody wrote to it through one of its names."""
    try:
        found = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return (
        stat.S_ISREG(found.st_mode)
        and stat.S_IMODE(found.st_mode) == _MODE
        and found.st_size == size
        and found.st_mtime_ns == _MODIFIED_AT_S * 10**9
    )


def _leads_to(path: bytes, target: bytes) -> bool:
    """Whether a symbolic link with this target is there."""
    try:
        return os.readlink(path) == target
    except OSError:
        return False


def _remove_if_empty(folder: bytes) -> None:
    try:
        os.rmdir(folder)
    except OSError as error:
        if error.errno not in {errno.ENOTEMPTY, errno.ENOENT, errno.ENOTDIR, errno.EEXIST}:
            raise
