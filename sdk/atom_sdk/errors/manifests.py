"""Ranges, roots, layers, commits and splits."""

from __future__ import annotations

from atom_sdk.errors.base import AtomError


class ManifestError(AtomError):
    """A manifest that cannot be built or read."""

    code = "manifest_invalid"
    hint = "Check that the dataset was written by a supported version of Atom."


class EmptyDatasetError(ManifestError):
    """A dataset version without entries, or a selection that no entry fits."""

    code = "dataset_empty"
    hint = "Give at least one file; of a version, see what it has with `atom data ls`."

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
    """The request of a split cannot be read."""

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
