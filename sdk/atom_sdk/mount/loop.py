"""The loop way: kernels before 6.12 mount EROFS from block devices, so every pack becomes one."""

from __future__ import annotations

import errno
import os
import struct
from collections.abc import Iterable
from contextlib import ExitStack
from fcntl import ioctl
from pathlib import Path

from atom_sdk.mount import kernel, syscalls
from atom_sdk.mount.errors import MountUnavailableError
from atom_sdk.mount.plan import MountPlan

CONTROL = Path("/dev/loop-control")
_GET_FREE = 0x4C82
_CONFIGURE = 0x4C0A
_READ_ONLY, _AUTOCLEAR, _DIRECT_IO = 1, 4, 16
# struct loop_config: descriptor, block size, struct loop_info64, 8 reserved words.
_CONFIG = struct.Struct("=II 5Q 4I 160x 2Q 64x")
_BLOCK_BYTES = 4096
_TRIES = 64


def mount_loop(plan: MountPlan) -> str:
    """Mount through loop devices, which disappear with the mount; returns the mount's source.

    Raises MountUnavailableError.
    """
    kernel.build_image(plan)
    with ExitStack() as opened:
        try:
            first, *rest = _attach_all([plan.image, *plan.packs], plan.direct_io, opened)
            syscalls.mount_file_system(kernel.KIND, first, plan.folder, rest, [])
        except OSError as error:
            raise kernel.unavailable(error) from error
        # The mount holds the devices from here on; closing ours lets them go with it.
        return str(first)


def _attach_all(files: Iterable[Path], direct_io: bool, opened: ExitStack) -> list[Path]:
    try:
        control = os.open(CONTROL, os.O_RDWR | os.O_CLOEXEC)
    except OSError as error:
        reason = f"loop devices cannot be used: {CONTROL} says {error.strerror}"
        raise MountUnavailableError(reason) from error
    opened.callback(os.close, control)
    flags = _READ_ONLY | _AUTOCLEAR | (_DIRECT_IO if direct_io else 0)
    return [_attach(file, control, flags, opened) for file in files]


def _attach(file: Path, control: int, flags: int, opened: ExitStack) -> Path:
    backing = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    try:
        for _ in range(_TRIES):
            device = Path(f"/dev/loop{ioctl(control, _GET_FREE)}")
            descriptor = os.open(device, os.O_RDONLY | os.O_CLOEXEC)
            config = _CONFIG.pack(backing, _BLOCK_BYTES, *([0] * 8), flags, 0, 0)
            try:
                ioctl(descriptor, _CONFIGURE, config)
            except OSError as error:
                os.close(descriptor)
                # Another process took the device between the two calls.
                if error.errno != errno.EBUSY:
                    raise
                continue
            opened.callback(os.close, descriptor)
            return device
    finally:
        os.close(backing)
    raise MountUnavailableError("every loop device was taken by another process")
