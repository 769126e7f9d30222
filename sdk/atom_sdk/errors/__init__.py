"""Every failure that the SDK can report, one class each.

    AtomError
    ├── PathError                     a path that a dataset cannot hold
    │   ├── EmptyPathError
    │   ├── AbsolutePathError
    │   ├── PathTraversalError
    │   ├── PathNotNormalisedError
    │   ├── NulInPathError
    │   ├── LinkTargetError
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
    ├── PathInTheWayError             a file where a folder is needed, or a folder instead
    ├── LinksImpossibleError          a folder whose file system has no symbolic links
    ├── ObjectNotFoundError           a key that the object store does not have
    ├── ExportError                   writing a dataset in another format
    ├── PreflightFailedError          a run that its data would make fail
    └── ReaderError                   reading samples on a node
        ├── SampleDigestMismatchError
        ├── ResumeMismatchError
        ├── TooManyTrainersError
        ├── ImageDecodeError
        │   └── PixelRangeError
        ├── ImageDecoderMissingError
        ├── NotAnnotatedError
        ├── PictureSizeError
        └── ViewIndexError

Every class carries a stable `code` for programs and a `hint` that says what to do next;
`str(error)` is a plain sentence for people.
"""

from atom_sdk.errors.base import AtomError
from atom_sdk.errors.manifests import (
    EmptyDatasetError,
    EntryOrderError,
    LayerKindError,
    ManifestCorruptError,
    ManifestError,
    PathNotFoundError,
    SplitEmptyError,
    SplitRedrawError,
    SplitSpecError,
    SplitTooLargeError,
    SplitUnlabelledError,
    UnknownFormatError,
)
from atom_sdk.errors.packs import (
    EmptyPackError,
    FileChangedError,
    PackDigestMismatchError,
    PackError,
    PackHeaderError,
    PackMissingError,
    PackOrderError,
    PackStoreError,
    PackStoreFullError,
    PackTrailingDataError,
    PackTruncatedError,
)
from atom_sdk.errors.paths import (
    AbsolutePathError,
    EmptyPathError,
    LinkTargetError,
    NulInPathError,
    PathError,
    PathNotNormalisedError,
    PathNotUnicodeError,
    PathTooLongError,
    PathTraversalError,
)
from atom_sdk.errors.readers import (
    ExportError,
    ImageDecodeError,
    ImageDecoderMissingError,
    NotAnnotatedError,
    PictureSizeError,
    PixelRangeError,
    ReaderError,
    ResumeMismatchError,
    SampleDigestMismatchError,
    TooManyTrainersError,
    ViewIndexError,
)
from atom_sdk.errors.runs import PreflightFailedError
from atom_sdk.errors.storage import (
    DiskFullError,
    LinksImpossibleError,
    ObjectNotFoundError,
    PathInTheWayError,
)

__all__ = [
    "AbsolutePathError",
    "AtomError",
    "DiskFullError",
    "EmptyDatasetError",
    "EmptyPackError",
    "EmptyPathError",
    "EntryOrderError",
    "ExportError",
    "FileChangedError",
    "ImageDecodeError",
    "ImageDecoderMissingError",
    "LayerKindError",
    "LinkTargetError",
    "LinksImpossibleError",
    "ManifestCorruptError",
    "ManifestError",
    "NotAnnotatedError",
    "NulInPathError",
    "ObjectNotFoundError",
    "PackDigestMismatchError",
    "PackError",
    "PackHeaderError",
    "PackMissingError",
    "PackOrderError",
    "PackStoreError",
    "PackStoreFullError",
    "PackTrailingDataError",
    "PackTruncatedError",
    "PathError",
    "PathInTheWayError",
    "PathNotFoundError",
    "PathNotNormalisedError",
    "PathNotUnicodeError",
    "PathTooLongError",
    "PathTraversalError",
    "PictureSizeError",
    "PixelRangeError",
    "PreflightFailedError",
    "ReaderError",
    "ResumeMismatchError",
    "SampleDigestMismatchError",
    "SplitEmptyError",
    "SplitRedrawError",
    "SplitSpecError",
    "SplitTooLargeError",
    "SplitUnlabelledError",
    "TooManyTrainersError",
    "UnknownFormatError",
    "ViewIndexError",
]
