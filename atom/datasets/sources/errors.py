"""Failures of places that data is registered from, one class each."""

from __future__ import annotations

from collections.abc import Sequence

from atom.core.errors import AlreadyExists, AtomError, Conflict, Invalid, NotFound
from atom_sdk.amounts import counted, first_named

_NAMED = 5


class SourceError(AtomError):
    """Base of what can go wrong at a source."""

    status = 502
    code = "source_failed"
    title = "The source does not give its data."
    action = "Check the source's address with the test of its connection."


class SourceDenied(SourceError):
    """401 or 403."""

    code = "source_denied"
    title = "The source refuses these credentials."
    action = "Give the source credentials that may list and read this place, then scan again."


class SourceMissing(SourceError):
    """The bucket, folder or list is not there."""

    code = "source_missing"
    title = "The source is not there any more."
    action = "Check bucket and address. Versions that were made stay; their bytes cannot be read."


class SourceThrottled(SourceError):
    """503 SlowDown or 429, again and again."""

    code = "source_throttled"
    title = "The source asks to slow down, and did not stop asking."
    action = "Scan again later: it goes on where it stopped."

    def __init__(self, detail: str | None = None, *, retry_after_s: float = 0.0) -> None:
        super().__init__(detail)
        self.retry_after_s = retry_after_s


class SourceAway(SourceError):
    """No answer, or one that only a failing server gives."""

    code = "source_away"
    title = "The source cannot be reached."
    action = "Check the network and the address, then scan again: it goes on where it stopped."


class SourceOdd(SourceError):
    """It answers with something else than the protocol says, a redirect for example."""

    code = "source_odd"
    title = "The source answers in a way that is not understood."
    action = "Check that the address is that of a service of this kind, not of a web page."


class SourceEmpty(SourceError):
    """There is no object to register."""

    status = 409
    code = "source_empty"
    title = "The source has no object that fits."
    action = "Check the prefix and the patterns; a dataset keeps its last version."


class SourceChanged(Conflict):
    """Objects are not what the version pinned; their bytes are not given."""

    code = "source_changed"
    title = "The source changed after this version was made: its bytes are not what was registered."
    action = "Scan the source again, which makes a new version, and use that one."

    @classmethod
    def of(cls, paths: Sequence[str]) -> SourceChanged:
        """Name the objects, a few of them in the sentence and up to 100 in `paths`."""
        named = first_named(list(map(repr, paths)), _NAMED)
        count = counted(len(paths), "object")
        text = f"The source changed: {count} changed or went away: {named}."
        return cls(f"{text} {cls.action}", paths=list(paths[:100]))


class SourceRemoved(Conflict):
    """The source was removed from the project, so nobody may read there any more."""

    code = "source_removed"
    title = "The source of this data was removed from the project."
    action = "Add the source again and scan it into a new version."


class SourceNotFound(NotFound):
    """The project has no such source."""

    code = "source_not_found"
    title = "The project has no such source."
    action = "Look at the sources of the project; case matters in their names."


class SourceNameTaken(AlreadyExists):
    """Another source of the project has this name."""

    code = "source_name_taken"
    title = "The project already has a source of that name."


class SourceAddressRefused(Invalid):
    """The address leads to where the server must not connect, or is none."""

    code = "source_address_refused"
    title = "A source may not be at this address."
    action = "Use a public address, or have the administrator allow it (ATOM_SOURCE_ALLOW)."


class SourceFolderRefused(Invalid):
    """The folder is not below one that the administrator allows."""

    code = "source_folder_refused"
    title = "A source may not be in this folder."
    action = "Have the administrator allow it (ATOM_SOURCE_FOLDERS)."


class ScanActive(Conflict):
    """The source is being scanned."""

    code = "scan_active"
    title = "The source is being scanned already."
    action = "Wait for the scan, or cancel it."


class ScanNotActive(Conflict):
    """There is nothing to cancel any more."""

    code = "scan_not_active"
    title = "The scan is not running, or makes its version already."
    action = "Reload to see its result."
