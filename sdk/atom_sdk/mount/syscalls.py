"""The mount system calls that Python does not have, through the C library.

`mount(8)` is not used: its option string ends at 4 KB, which 60 packs fill, and some versions of it
attach a loop device to every file.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

# These numbers are the same on every architecture that Python supports.
_MOVE_MOUNT, _FSOPEN, _FSCONFIG, _FSMOUNT = 429, 430, 431, 432
_FSOPEN_CLOEXEC = _FSMOUNT_CLOEXEC = 1
_SET_FLAG, _SET_STRING, _CREATE = 0, 1, 6
_READ_ONLY, _NO_SETUID, _NO_DEVICES = 1, 2, 4
_FROM_DESCRIPTOR = 4
_AT_FDCWD = -100
_UMOUNT_NOFOLLOW = 8
_MS_READ_ONLY, _MS_NO_SETUID, _MS_NO_DEVICES, _MS_NO_PROGRAMS = 1, 2, 4, 8
_MS_REMOUNT, _MS_BIND = 32, 4096
_MESSAGE_BYTES = 4096

_libc = ctypes.CDLL(None, use_errno=True)


def _system_call(number: int) -> Callable[..., int]:
    """A system call that takes C ints and texts, and raises OSError.

    Without `argtypes`, whose checks take half of a call: a mount makes one for each pack.
    """
    function = _libc["syscall"]
    function.restype = ctypes.c_long
    name = ctypes.c_long(number)

    def call(*arguments: int | bytes | None) -> int:
        result: int = function(name, *arguments)
        if result < 0:
            error = ctypes.get_errno()
            raise OSError(error, os.strerror(error))
        return result

    return call


_fsopen = _system_call(_FSOPEN)
_fsconfig = _system_call(_FSCONFIG)
_fsmount = _system_call(_FSMOUNT)
_move_mount = _system_call(_MOVE_MOUNT)


def check_allowed(kind: str) -> None:
    """Raise OSError if the kernel lacks a file system or this process may not mount."""
    os.close(_fsopen(kind.encode(), _FSOPEN_CLOEXEC))


def mount_file_system(
    kind: str, source: Path, folder: Path, devices: Sequence[Path], flags: Sequence[str]
) -> None:
    """Mount read-only, without set-user-id programs and device files. Raises OSError.

    The error's text is what the kernel said about it, if it said anything.
    """
    context = _fsopen(kind.encode(), _FSOPEN_CLOEXEC)
    try:
        with _kernel_words(context):
            _configure(context, source, devices, flags)
            attributes = _READ_ONLY | _NO_SETUID | _NO_DEVICES
            mounted = _fsmount(context, _FSMOUNT_CLOEXEC, attributes)
        try:
            _move_mount(mounted, b"", _AT_FDCWD, os.fsencode(folder), _FROM_DESCRIPTOR)
        finally:
            os.close(mounted)
    finally:
        os.close(context)


def _configure(context: int, source: Path, devices: Sequence[Path], flags: Sequence[str]) -> None:
    _fsconfig(context, _SET_STRING, b"source", os.fsencode(source), 0)
    for device in devices:
        _fsconfig(context, _SET_STRING, b"device", os.fsencode(device), 0)
    for flag in ("ro", *flags):
        _fsconfig(context, _SET_FLAG, flag.encode(), None, 0)
    _fsconfig(context, _CREATE, None, None, 0)


def bind_read_only(source: Path, folder: Path) -> None:
    """Show a folder at another one read-only, without programs and device files. Raises OSError."""
    flags = _MS_BIND | _MS_READ_ONLY | _MS_NO_SETUID | _MS_NO_DEVICES | _MS_NO_PROGRAMS
    _mount(source, folder, _MS_BIND)
    try:
        # A bind mount takes its flags by a second call only.
        _mount(source, folder, flags | _MS_REMOUNT)
    except OSError:
        unmount(folder)
        raise


def _mount(source: Path, folder: Path, flags: int) -> None:
    paths = os.fsencode(source), os.fsencode(folder)
    if _libc.mount(*paths, None, ctypes.c_ulong(flags), None) < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(folder))


def unmount(folder: Path) -> None:
    """Detach what is mounted on a folder. Raises OSError: EBUSY while it is used."""
    if _libc.umount2(os.fsencode(folder), _UMOUNT_NOFOLLOW) < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(folder))


@contextmanager
def _kernel_words(context: int) -> Iterator[None]:
    """Give an OSError the messages that the kernel left in the file-system context."""
    try:
        yield
    except OSError as error:
        said = "; ".join(_messages(context))
        if said:
            raise OSError(error.errno, f"{error.strerror} ({said})") from error
        raise


def _messages(context: int) -> Iterator[str]:
    while True:
        try:
            message = os.read(context, _MESSAGE_BYTES)
        except OSError:
            return
        # Each begins with its severity and a space: "e erofs: …".
        yield message.decode(errors="replace").strip().partition(" ")[2]
