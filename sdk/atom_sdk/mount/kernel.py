"""The EROFS way: the kernel reads the packs itself, as extra devices of a metadata image."""

from __future__ import annotations

import errno

from atom_sdk.mount import syscalls
from atom_sdk.mount.erofs import write_image
from atom_sdk.mount.errors import ImageLimitError, MountUnavailableError, UnalignedPackError
from atom_sdk.mount.plan import MountPlan

KIND = "erofs"
_REASONS = {
    errno.EPERM: "mounting needs the right CAP_SYS_ADMIN, which root has",
    errno.EACCES: "the kernel's security module does not let this process mount",
    errno.ENODEV: "this kernel has no EROFS (CONFIG_EROFS_FS)",
    errno.ENOSYS: "this kernel has no fsopen, which came with Linux 5.2",
    errno.ENOTBLK: "EROFS reads from files since Linux 6.12 only, and not from files in tmpfs",
    errno.EOPNOTSUPP: "this kernel's EROFS lacks chunk-based files, which came with Linux 5.16",
    errno.EINVAL: "this kernel refuses the image or an option of the mount",
}


def mount_files(plan: MountPlan) -> str:
    """Mount the packs as they are; returns the mount's source. Raises MountUnavailableError."""
    build_image(plan)
    flags = ["directio"] if plan.direct_io else []
    try:
        syscalls.mount_file_system(KIND, plan.image, plan.folder, plan.packs, flags)
    except OSError as error:
        raise unavailable(error) from error
    return str(plan.image)


def build_image(plan: MountPlan) -> None:
    """Write the image unless it is there already. Raises MountUnavailableError."""
    try:
        # Before the work, not after it.
        syscalls.check_allowed(KIND)
    except OSError as error:
        raise unavailable(error) from error
    if plan.image.exists():
        return
    partial = plan.image.with_suffix(".partial")
    try:
        write_image(plan.view, plan.dataset.pack_dir, partial, plan.modified_at_s)
    except (ImageLimitError, UnalignedPackError) as error:
        partial.unlink(missing_ok=True)
        raise MountUnavailableError(str(error).rstrip(".")) from error
    partial.replace(plan.image)


def unavailable(error: OSError) -> MountUnavailableError:
    """Say in words why the kernel refused a mount."""
    known = _REASONS.get(error.errno or 0)
    said = error.strerror or str(error)
    return MountUnavailableError(f"{known} ({said})" if known else said)
