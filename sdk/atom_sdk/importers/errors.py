"""The reasons why an import cannot be done. A fault of one item is a `Problem`, not an error."""

from __future__ import annotations

import math
from collections.abc import Sequence

from atom_sdk.errors import AtomError
from atom_sdk.importers.losses import ClassLoss


class ImportFailedError(AtomError):
    """Base of the failures of an import; nothing was committed."""

    code = "import_failed"
    hint = "Look at it with --dry-run."


class SourceUnreadableError(ImportFailedError):
    """There is no such file or folder, or it is of no kind that can be imported."""

    code = "import_source_unreadable"
    hint = "Give a folder, a .zip, .tar, .tar.gz or .tar.zst file, a CSV, COCO or Parquet file."


class ArchiveDamagedError(ImportFailedError):
    """An archive is cut off, or a member is not what its header says."""

    code = "archive_damaged"
    hint = "Get the archive again and compare its checksum with the publisher's."


class ArchiveTooLargeError(ImportFailedError):
    """An archive unpacks to more than is allowed: it may be a bomb."""

    code = "archive_too_large"
    hint = "If you trust the archive, raise the limit: --max-ratio, --max-files or --max-gib."


class FormatUnknownError(ImportFailedError):
    """A format was asked for, and the source does not have what it needs."""

    code = "import_format_mismatch"
    hint = "Let --format auto decide, or see the documentation for what the format needs."


class UndetectedFormatError(FormatUnknownError):
    """A table was given alone, and `auto` does not find what it names."""

    hint = (
        "Name the column of files path or url, "
        "or import the table itself as a file: --format folder."
    )


class NoPicturesInTableError(FormatUnknownError):
    """A Parquet file has no column with the bytes of pictures."""

    hint = "Import the Parquet files as they are: --format folder (zip or tar for an archive)."


class AnnotationsMissingError(ImportFailedError):
    """Pictures were named apart from their annotations, and there are no annotations."""

    code = "import_annotations_missing"
    hint = "SOURCE has the annotations, --images their pictures; exchange them, or give --format."


class EncodingUnknownError(ImportFailedError):
    """No encoding of text has this name."""

    code = "encoding_unknown"
    hint = "Give a name such as utf-8, cp1252, gbk, cp932 or euc-kr."


class ZipEncodingError(ImportFailedError):
    """A name in a zip archive is no text of the encoding that was given."""

    code = "zip_encoding_wrong"
    hint = "Give another --zip-encoding, or leave it out and see with --dry-run how names look."


class AnnotationsUnreadableError(ImportFailedError):
    """A file that says what the items are cannot be understood at all."""

    code = "annotations_unreadable"
    hint = "Open the file named here and repair it, or export it again from the tool it came from."


class TextEncodingError(AnnotationsUnreadableError):
    """A file that says what the items are is text of another encoding."""

    code = "annotations_encoding"
    hint = "Give its encoding, such as --encoding cp1252 for a file of Windows in Western Europe."


class ImportProblemsError(ImportFailedError):
    """With --strict: some items cannot be imported as they are."""

    code = "import_problems"
    hint = "Repair them, or leave --strict out to import the rest."


class LabelsLostError(ImportFailedError):
    """More objects or labels would be lost than is allowed, of all or of one class."""

    code = "import_labels_lost"
    hint = "Look with --dry-run and repair the source, or accept the loss with --allow-loss."

    def __init__(self, message: str, losses: Sequence[ClassLoss], allowed: float) -> None:
        """`losses` are those above the share that is allowed."""
        super().__init__(message)
        needed = math.ceil(max(one.share for one in losses) * 100)
        self.hint = (
            f"Look with --dry-run and repair the source, or accept it: --allow-loss {needed}%."
        )
        self.problem = {
            "code": self.code,
            "detail": message,
            "allowed": allowed,
            "losses": [one.as_json() for one in losses],
        }


class AllowedLossError(ImportFailedError):
    """A share of objects that may be lost is none."""

    code = "allowed_loss_invalid"
    hint = "Write --allow-loss 5% or --allow-loss 0.05, from 0 to 100%."


class YoloTaskUnknownError(ImportFailedError):
    """Lines of YOLO files may mean several things, and nothing says which."""

    code = "yolo_task_unknown"
    hint = (
        "Say what they are: --yolo-task detect, segment, pose or obb; "
        "or write task: or kpt_shape: into data.yaml."
    )


class NothingToImportError(ImportFailedError):
    """Not one item is left."""

    code = "import_empty"
    hint = "See with --dry-run why items are left out."


class DownloadRefusedError(ImportFailedError):
    """An address leads to where an import may not go, or its answer cannot be used."""

    code = "download_refused"
    hint = "Give public http(s) addresses, or allow a host with --allow-host."


class MissingLibraryError(ImportFailedError):
    """A format needs a library that is not installed."""

    code = "library_missing"
    hint = "Install it: pip install 'atom-sdk[yolo]'."
