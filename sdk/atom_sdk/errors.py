"""Every failure that the SDK can report, one class each.

    AtomError
    ├── PathError                     a path that a dataset cannot hold
    │   ├── EmptyPathError
    │   ├── AbsolutePathError
    │   ├── PathTraversalError
    │   ├── PathNotNormalisedError
    │   ├── NulInPathError
    │   ├── PathNotUnicodeError
    │   └── PathTooLongError
    ├── PackError                     a pack that cannot be written or trusted
    │   ├── EmptyPackError
    │   ├── PackOrderError
    │   ├── FileChangedError
    │   ├── PackTruncatedError
    │   ├── PackTrailingDataError
    │   ├── PackHeaderError
    │   └── PackDigestMismatchError
    ├── PackStoreError                a node's folder of packs
    │   ├── PackMissingError
    │   └── PackStoreFullError
    ├── ManifestError                 ranges, roots, layers, commits
    │   ├── EmptyDatasetError
    │   ├── EntryOrderError
    │   ├── ManifestCorruptError
    │   ├── UnknownFormatError
    │   ├── LayerKindError
    │   ├── SplitTooLargeError
    │   ├── SplitUnlabelledError
    │   ├── SplitEmptyError
    │   ├── SplitSpecError
    │   ├── SplitRedrawError
    │   ├── QueryError                the text of a query; manifests/query/errors.py
    │   └── PathNotFoundError
    ├── DiskFullError                 a folder has no room for a file
    ├── ObjectNotFoundError           a key that the object store does not have
    ├── ExportError                   writing a dataset in another format
    └── ReaderError                   reading samples on a node
        ├── SampleDigestMismatchError
        ├── ResumeMismatchError
        ├── ImageDecodeError
        ├── ImageDecoderMissingError
        └── ViewIndexError

Every class carries a stable `code` for programs and a `hint` that says what to do next;
`str(error)` is a plain sentence for people.
"""

from __future__ import annotations


class AtomError(Exception):
    """Base of every error that the SDK raises on purpose."""

    code = "atom_error"
    hint = "Run the command again with --help, or see the documentation."


class PathError(AtomError):
    """A path that a dataset cannot hold."""

    code = "path_invalid"
    hint = "Rename the file, or leave it out, and try again."
    reason = "is not valid"

    def __init__(self, path: str) -> None:
        """Keep the path as given; the sentence shows it escaped."""
        super().__init__(f"The path {path!r} {self.reason}.")
        self.path = path


class EmptyPathError(PathError):
    """The path has no characters."""

    code = "path_empty"
    reason = "is empty"


class AbsolutePathError(PathError):
    """The path begins with a slash."""

    code = "path_absolute"
    reason = "is absolute; paths are relative to the dataset"


class PathTraversalError(PathError):
    """A segment of the path is `..`."""

    code = "path_traversal"
    reason = "has a '..' segment and could leave the dataset"


class PathNotNormalisedError(PathError):
    """The path has a `.` segment, a doubled slash or ends in a slash."""

    code = "path_not_normalised"
    reason = "has an empty or '.' segment"


class NulInPathError(PathError):
    """The path contains a NUL character, which no file system can hold."""

    code = "path_has_nul"
    reason = "contains a NUL character"


class PathNotUnicodeError(PathError):
    """The file name is not valid UTF-8."""

    code = "path_not_unicode"
    reason = "is not valid UTF-8"


class PathTooLongError(PathError):
    """The path is over 4,095 bytes, or one segment is over 255 bytes."""

    code = "path_too_long"
    reason = "is over 4,095 bytes, or one of its segments is over 255 bytes"


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
    """A member's header is damaged, lies, or is not in canonical form."""

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


class DiskFullError(AtomError):
    """A file finds no room on the disk, in the quota or below the limit of a file's size."""

    code = "disk_full"
    hint = "Free some space or raise the quota, then try again; nothing half written is left."

    def __init__(self, folder: str, free_bytes: int) -> None:
        """`free_bytes` is what the file system still offers."""
        super().__init__(f"No room in {folder}: {free_bytes} bytes are free.")
        self.folder = folder
        self.free_bytes = free_bytes


class ManifestError(AtomError):
    """A manifest that cannot be built or read."""

    code = "manifest_invalid"
    hint = "Check that the dataset was written by a supported version of Atom."


class EmptyDatasetError(ManifestError):
    """A dataset version without entries."""

    code = "dataset_empty"
    hint = "Give at least one file."

    def __init__(self, message: str = "A dataset version needs at least one file.") -> None:
        """Say what left nothing, if known."""
        super().__init__(message)


class EntryOrderError(ManifestError):
    """Entries are not in strictly ascending order of their UTF-8 paths, or a path comes twice."""

    code = "entry_order"
    hint = "Sort the entries by path and give every path once."

    def __init__(self, previous: str, path: str) -> None:
        """Name both neighbours."""
        super().__init__(f"The entry {path!r} does not come after {previous!r} in UTF-8 order.")
        self.previous = previous
        self.path = path


class ManifestCorruptError(ManifestError):
    """A range, root, layer or commit does not hash to its name or cannot be parsed."""

    code = "manifest_corrupt"
    hint = "Restore the object from a backup or from another copy of the dataset."

    def __init__(self, key: str, problem: str) -> None:
        """`key` is the object's key in the store."""
        super().__init__(f"The manifest object {key} is damaged: {problem}.")
        self.key = key


class UnknownFormatError(ManifestError):
    """The object says that it has a format that this SDK does not know."""

    code = "format_unknown"
    hint = "Upgrade atom-sdk."

    def __init__(self, expected: str, actual: str) -> None:
        """Both as `name/version`."""
        super().__init__(f"Expected the format {expected!r} but the object says {actual!r}.")


class LayerKindError(ManifestError):
    """A layer has an unknown kind, or its table does not have the columns of its kind."""

    code = "layer_kind"
    hint = "Use one of the kinds in the manifest's README with exactly its columns."


class SplitTooLargeError(ManifestError):
    """A split asks for more samples than there are."""

    code = "split_too_large"
    hint = "Ask for fewer samples, or add labelled ones."

    def __init__(self, split: str, wanted: int, available: int) -> None:
        """Counts are samples."""
        super().__init__(
            f"The split {split!r} needs {wanted} more samples, and {available} labelled files are "
            "in no split yet."
        )


class SplitUnlabelledError(ManifestError):
    """A split is drawn by label, and there is no label."""

    code = "split_unlabelled"
    hint = "Push with --labels folder, label the files first, or split with --no-stratify."

    def __init__(self) -> None:
        super().__init__("A split is drawn from labelled files, and no file has a label.")


class SplitEmptyError(ManifestError):
    """A split over a query or a view that no file matches."""

    code = "split_empty"
    hint = "Browse the version with the query or the view to see what it chooses."

    def __init__(self) -> None:
        super().__init__("No file matches what the split is drawn over.")


class SplitSpecError(ManifestError):
    """What is asked of a split cannot be read."""

    code = "split_spec"
    hint = "Write for example test=1000, or test=20% val=10% with --group-by folder."


class SplitRedrawError(ManifestError):
    """The files have a split already, and what is asked would draw them again."""

    code = "split_redraw"
    hint = "Add --redraw to draw all files anew; results on the old split no longer compare."

    def __init__(self, reason: str) -> None:
        super().__init__(f"The dataset has a split already, {reason}.")


class PathNotFoundError(ManifestError):
    """A dataset version has no entry with this path."""

    code = "path_not_found"
    hint = "List the folder to see which paths there are."

    def __init__(self, path: str) -> None:
        """The path as asked for."""
        super().__init__(f"There is no entry {path!r} in this version.")
        self.path = path


class ObjectNotFoundError(AtomError):
    """The object store does not have this key."""

    code = "object_not_found"
    hint = "Check the project and the dataset reference."

    def __init__(self, key: str) -> None:
        """The key as asked for."""
        super().__init__(f"There is no object {key!r} in the store.")
        self.key = key


class ExportError(AtomError):
    """A dataset cannot be written in another format."""

    code = "export"
    hint = "Choose another folder, or remove the export that is in it."


class ReaderError(AtomError):
    """A sample cannot be read."""

    code = "reader"


class SampleDigestMismatchError(ReaderError):
    """The bytes of a sample on this node do not hash to the digest of its entry."""

    code = "sample_digest_mismatch"
    hint = "Remove the pack from this node and warm the dataset again."

    def __init__(self, path: str, pack: str) -> None:
        """`pack` as 64 hex digits."""
        super().__init__(
            f"The sample {path!r} in the pack {pack} is damaged on this node and is not served."
        )
        self.path = path
        self.pack = pack


class ImageDecodeError(ReaderError):
    """A file is no picture, or a damaged one."""

    code = "image_decode"
    hint = "Leave the file out with a query, or replace it in a new version of the dataset."

    def __init__(self, path: str, reason: str) -> None:
        """`reason` is what the decoder said."""
        super().__init__(f"The file {path!r} cannot be decoded as a picture: {reason}.")
        self.path = path


class ImageDecoderMissingError(ReaderError):
    """Pillow, which decodes pictures, is not installed."""

    code = "image_decoder_missing"
    hint = "Install it: pip install 'atom-sdk[images]'."

    def __init__(self) -> None:
        """There is nothing more to say."""
        super().__init__("Decoding pictures needs the package pillow.")


class ResumeMismatchError(ReaderError):
    """A saved position belongs to another order of samples."""

    code = "resume_mismatch"
    hint = "Resume with the dataset version, the split and the arguments of the run that saved it."


class ViewIndexError(ReaderError):
    """A view index file cannot be opened or is of another format."""

    code = "view_index"
    hint = "Build the view again."
