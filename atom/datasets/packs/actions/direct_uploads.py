"""Uploads that go straight to the key of their pack: nothing is copied afterwards.

Clients never replace an object there. A single PUT carries `If-None-Match: *` in its signature,
parts are joined by the server alone under the same condition, and a pack has one such upload at a
time. The bytes stay invisible until they are verified; those that do not match their digest are
removed before another upload of that digest may begin. Where the store does not honour
conditional writes, or the key holds an object, an upload goes by way of staging.
"""

from __future__ import annotations

from django.conf import settings
from django.db.models import QuerySet

from atom.accounts.models import Project
from atom.core import storage
from atom.datasets.keys import STAGING, pack_index_key, pack_key
from atom.datasets.models import Pack, Upload
from atom.datasets.states import UPLOADING


def direct_key(project: Project, digest: str) -> str:
    """Return the absolute key of a pack."""
    return storage.project_prefix(project) + pack_key(digest)


def is_direct(upload: Upload) -> bool:
    """Return whether the upload goes to its pack's own key, not to staging."""
    return bool(upload.key) and not upload.key.startswith(STAGING)


def is_single(upload: Upload) -> bool:
    """Return whether one PUT brings the whole upload, without parts that are joined."""
    return is_direct(upload) and not upload.multipart_id


def may_be_direct(pack: Pack) -> bool:
    """Return whether an upload of the pack may go to the pack's key.

    The caller holds the pack's turn, and keeps it until the upload has its row.
    """
    objects = storage.objects()
    if not settings.ATOM_DIRECT_UPLOADS or not objects.takes_conditional_writes():
        return False
    if live_direct(pack).exists():
        return False
    # The bytes there are another upload's, or corrupt: only a verified copy replaces them. An index
    # that was left would mark unverified bytes as verified.
    prefix = storage.project_prefix(pack.project)
    stored = (pack_key(pack.digest), pack_index_key(pack.digest))
    return not any(objects.exists(prefix + key) for key in stored)


def live_direct(pack: Pack) -> QuerySet[Upload]:
    """Return the uploads that write, or wrote and have not verified, the pack's own key."""
    uploads = Upload.objects.filter(dataset__project=pack.project, kind="pack", digest=pack.digest)
    return uploads.filter(state__in=UPLOADING).exclude(key="").exclude(key__startswith=STAGING)
