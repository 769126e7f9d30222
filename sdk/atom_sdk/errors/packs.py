"""Packs that cannot be written or trusted, and folders of packs."""

from __future__ import annotations

from atom_sdk.errors.base import AtomError


class PackError(AtomError):
    """A pack that cannot be written or trusted."""

    code = "pack_invalid"
    hint = "Push the files again; the pack is not used."


class EmptyPackError(PackError):
    """A pack without members."""

    code = "pack_empty"
    hint = "Give at least one file."

    def __init__(self, message: str = "A pack needs at least one file.") -> None:
        """Say where the empty pack came from, if known."""
        super().__init__(message)


class PackOrderError(PackError):
    """Members are not in strictly ascending order of their UTF-8 paths."""

    code = "pack_order"

    def __init__(self, previous: str, path: str) -> None:
        """Name both neighbours."""
        super().__init__(f"The member {path!r} does not come after {previous!r} in UTF-8 order.")
        self.previous = previous
        self.path = path


class FileChangedError(PackError):
    """A file changed its size between listing and packing."""

    code = "file_changed"
    hint = "Stop whatever writes to the folder, then push again."

    def __init__(self, path: str, expected_bytes: int, actual_bytes: int) -> None:
        """Give both sizes in bytes."""
        super().__init__(
            f"The file {path!r} changed while it was read: "
            f"{expected_bytes} bytes when listed, {actual_bytes} now."
        )
        self.path = path


class PackTruncatedError(PackError):
    """The pack ends inside a member or before its end mark."""

    code = "pack_truncated"

    def __init__(self, where: str) -> None:
        """`where` names the member that is cut, or the last whole one."""
        super().__init__(f"The pack ends too early, {where}.")


class PackTrailingDataError(PackError):
    """Bytes follow the end mark of the pack."""

    code = "pack_trailing_data"

    def __init__(self, offset_bytes: int, last: str) -> None:
        """Give the position of the first byte too many and the last member."""
        super().__init__(
            f"The pack has data after its end, at byte {offset_bytes}, after the member {last!r}."
        )
        self.offset_bytes = offset_bytes


class PackHeaderError(PackError):
    """A member's header is corrupt, contradicts itself, or is not in canonical form."""

    code = "pack_header"

    def __init__(self, where: str, problem: str, offset_bytes: int) -> None:
        """`where` names the member; `problem` says what is wrong with its header."""
        super().__init__(f"The header of {where}, at byte {offset_bytes}, is not valid: {problem}.")
        self.offset_bytes = offset_bytes


class PackDigestMismatchError(PackError):
    """The bytes of a pack do not hash to the digest that names it."""

    code = "pack_digest_mismatch"
    hint = "The copy is damaged and was not used; fetch or push the pack again."

    def __init__(self, expected: str, actual: str) -> None:
        """Both digests as 64 hex digits."""
        super().__init__(f"The pack {expected} is damaged: its bytes hash to {actual}.")
        self.expected = expected
        self.actual = actual


class PackStoreError(AtomError):
    """A node's folder of packs cannot do what was asked."""

    code = "pack_store"
    hint = "Look at the folder's owner, mode and free space."


class PackMissingError(PackStoreError):
    """A pack that is needed is not on this node."""

    code = "pack_missing"
    hint = "Warm the dataset on this node first, for example with 'atom data pull'."

    def __init__(self, pack: str, path: str | None = None) -> None:
        """`pack` as 64 hex digits; `path` is the sample that was asked for, if any."""
        wanted = f", needed for {path!r}," if path is not None else ""
        super().__init__(f"The pack {pack}{wanted} is not on this node.")
        self.pack = pack
        self.path = path


class PackStoreFullError(PackStoreError):
    """The disk or quota of the pack folder is full."""

    code = "pack_store_full"
    hint = "Free some space, raise the quota, or choose another cache folder."

    def __init__(self, folder: str, pack: str, free_bytes: int) -> None:
        """`free_bytes` is what the file system still offers."""
        super().__init__(f"No room for the pack {pack} in {folder}: {free_bytes} bytes are free.")
        self.pack = pack
        self.free_bytes = free_bytes
