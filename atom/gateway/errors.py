"""Errors between a media link and its bytes."""

from atom.core.errors import AtomError, NotFound, TooLarge, Unavailable


class MediaLinkInvalid(NotFound):
    """The token was not signed by this installation, or was changed."""

    code = "media_link_invalid"
    title = "This link is not valid."
    action = "Reload the page that shows the file to get a fresh link."


class MediaLinkExpired(AtomError):
    """The token's day has passed."""

    status = 410
    code = "media_link_expired"
    title = "This link has expired."
    action = "Reload the page that shows the file to get a fresh link."


class MediaMissing(NotFound):
    """The object is not in the store."""

    code = "media_missing"
    title = "The bytes of this file are not available."
    action = "Push the folder that the file came from again."


class TileMissing(NotFound):
    """The pyramid has no such tile, or it was cleared."""

    code = "tile_missing"
    title = "The picture has no such tile."
    action = "Reload the page, which has the tiles made again if they were cleared."


class MediaDamaged(AtomError):
    """The stored bytes do not hash to the entry's digest."""

    status = 502
    code = "media_damaged"
    title = "The stored bytes of this file are damaged and are not served."
    action = "Warm the version, which quarantines the pack; then push its folder again."


class ImageUnreadable(AtomError):
    """The file claims to be an image, but no picture can be made of it."""

    status = 422
    code = "image_unreadable"
    title = "No picture can be made of this file."
    action = "Download the file to look at it, or remove it from the dataset."


class ImageTooLarge(TooLarge):
    """The image is over the limits for thumbnails."""

    code = "image_too_large"
    title = "The image is too large for a thumbnail."
    action = "Download the file to look at it."


class RangeNotSatisfiable(AtomError):
    """The Range header asks for bytes that the file does not have."""

    status = 416
    code = "range_not_satisfiable"
    title = "The file does not have the requested bytes."
    action = "Ask for a range inside the file, or leave the Range header out."


class MethodUnknown(AtomError):
    """Only GET and HEAD are served, and PUT of parts."""

    status = 405
    code = "method_not_allowed"
    title = "The gateway only answers GET and HEAD."
    action = "Use GET."


class PartSizeDiffers(AtomError):
    """The part is not as long as was announced when its address was asked for."""

    status = 400
    code = "part_size_differs"
    title = "The part does not have the size that was announced."
    action = "Ask for the addresses of the parts again, and send each with its own bytes."


class PartNotStored(Unavailable):
    """The object store did not take a part."""

    code = "part_not_stored"
    title = "The object store did not take this part."
    action = "Send the part again; if it stays, look at the store's log."


class Overloaded(Unavailable):
    """Too many reads wait already."""

    code = "gateway_overloaded"
    title = "The gateway has too many reads in progress."
    action = "Try again after the seconds in Retry-After."
