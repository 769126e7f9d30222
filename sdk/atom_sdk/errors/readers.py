"""Samples that cannot be read, and datasets that cannot be exported."""

from __future__ import annotations

from atom_sdk.errors.base import AtomError


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

    def __init__(
        self, path: str, pack: str, file: str = "", reason: str = "", hint: str = ""
    ) -> None:
        """`pack` as 64 hex digits, `file` where it lies; `reason`: why it stays, a clause."""
        where = f" ({file})" if file else ""
        why = f": {reason}" if reason else ""
        super().__init__(
            f"The sample {path!r} in the pack {pack}{where} is damaged on this node and is not "
            f"served{why}."
        )
        self.path = path
        self.pack = pack
        self.file = file
        self.hint = hint or self.hint


class ImageDecodeError(ReaderError):
    """A file is no picture, or a corrupt one."""

    code = "image_decode"
    hint = "Leave the file out with a query, or replace it in a new version of the dataset."

    def __init__(self, path: str, reason: str) -> None:
        """`reason` is what the decoder said."""
        super().__init__(f"The file {path!r} cannot be decoded as a picture: {reason}.")
        self.path = path


class PixelRangeError(ImageDecodeError):
    """A picture's pixels have more than 8 bits, and nothing says which are black and white."""

    code = "pixel_range"
    hint = "Give the decoder a range, such as ImageDecoder(value_range=(0, 4095))."


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


class TooManyTrainersError(ReaderError):
    """More processes than there is room for move one shared position."""

    code = "too_many_trainers"
    hint = "Make the samples in each process instead of passing them to it."

    def __init__(self, most: int) -> None:
        """`most` processes have room."""
        super().__init__(f"More than {most} processes train with the samples of one object.")


class NotAnnotatedError(ReaderError):
    """A layer has no annotations of a picture, or they belong to earlier bytes of it."""

    code = "not_annotated"
    hint = "Read the pictures that ObjectTargets.rows_in names, or publish the annotations first."

    def __init__(self, path: str) -> None:
        """`path` of the picture."""
        super().__init__(f"The picture {path!r}, as it is now, has no annotations.")
        self.path = path


class PictureSizeError(ReaderError):
    """A picture has another size than the one that was annotated."""

    code = "picture_size_differs"
    hint = "Annotate the picture again, or set a size to scale both."

    def __init__(self, path: str, size: tuple[int, ...], annotated: tuple[int, ...]) -> None:
        """Sizes are (height, width) in pixels."""
        names = [f"{width} × {height}" for height, width in (size, annotated)]
        super().__init__(f"The picture {path!r} is {names[0]} pixels; annotated were {names[1]}.")
        self.path = path
