"""A process that carries out one action and dies at a crash point. Loaded by a fork server.

The server has Django but no connection to anything, so that each child makes its own.
"""

from __future__ import annotations

import django
from django.conf import settings
from django.db import connections

django.setup()


def carry_out(action: str, subject: str, database: str, crash_point: str) -> None:
    """Do `action` to the row with the id `subject`; die at `crash_point` on the way."""
    settings.CRASH_POINT = crash_point
    connections["default"].settings_dict["NAME"] = database
    _ACTIONS[action](subject)


def _complete(upload_id: str) -> None:
    from atom.core import storage
    from atom.datasets.actions.uploads import complete_upload
    from atom.datasets.models import Upload

    upload = Upload.objects.select_related("dataset__project").get(pk=upload_id)
    arrived = storage.objects().multipart_parts(upload.key, upload.multipart_id)
    complete_upload(upload, [(part.number, part.etag) for part in arrived])


def _verify(upload_id: str) -> None:
    from atom.datasets.actions.verification import verify_upload

    verify_upload(upload_id)


def _commit(request_id: str) -> None:
    from atom.datasets.actions.commits import run_commit

    run_commit(request_id)


def _collect(run_id: str) -> None:
    from datetime import timedelta

    from atom.datasets.actions.garbage import collect_garbage
    from atom.datasets.garbage_roots import GarbageRules

    collect_garbage(run_id, GarbageRules(timedelta(0), timedelta(0)))


_ACTIONS = {"complete": _complete, "verify": _verify, "commit": _commit, "collect": _collect}
