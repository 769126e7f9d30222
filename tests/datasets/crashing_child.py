"""A process that carries out one action and dies at a crash point. Loaded by a fork server.

The server has all modules but no connection to anything, so that each child makes its own.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import django
from django.conf import settings
from django.db import connections

from atom_sdk.block_pandas import leave_pandas_out

leave_pandas_out()
django.setup()

from atom.core import storage, store_clients  # noqa: E402
from atom.datasets.commit_runner import run_commit  # noqa: E402
from atom.datasets.commits.actions.compaction import compact_version  # noqa: E402
from atom.datasets.models import Replica, Upload  # noqa: E402
from atom.datasets.packs.actions.uploads import complete_upload  # noqa: E402
from atom.datasets.packs.actions.verification import verify_upload  # noqa: E402
from atom.datasets.replicas.actions.copying import work_on_replicas  # noqa: E402
from atom.datasets.retention.actions.garbage import collect_garbage  # noqa: E402
from atom.datasets.retention.engines.pack_use import PackingRules  # noqa: E402
from atom.datasets.retention.garbage_roots import GarbageRules  # noqa: E402

# Three small packs are enough.
PACK_MANY = GarbageRules(timedelta(0), timedelta(0), PackingRules(many=3))


def carry_out(action: str, subject: str, database: str, crash_point: str) -> None:
    """Do `action` to the row with the id `subject`; die at `crash_point` on the way."""
    settings.CRASH_POINT = crash_point
    connections["default"].settings_dict["NAME"] = database
    _ACTIONS[action](subject)


def _complete(upload_id: str) -> None:
    upload = Upload.objects.select_related("dataset__project").get(pk=upload_id)
    arrived = storage.objects().multipart_parts(upload.key, upload.multipart_id)
    complete_upload(upload, [(part.number, part.etag) for part in arrived])


def _repack(run_id: str) -> None:
    collect_garbage(run_id, PACK_MANY)


def _collect(run_id: str) -> None:
    collect_garbage(run_id, GarbageRules(timedelta(0), timedelta(0)))


def _replicate(replica_id: str) -> None:
    settings.ATOM_SOURCE_ALLOW = ["127.0.0.0/8"]
    replica = Replica.objects.select_related("version__dataset").get(pk=replica_id)
    work_on_replicas(replica.store_id, replica.version.dataset.project_id)


_ACTIONS: dict[str, Callable[[str], object]] = {
    "complete": _complete,
    "verify": verify_upload,
    "commit": run_commit,
    "compact": compact_version,
    "collect": _collect,
    "repack": _repack,
    "replicate": _replicate,
}

# To load what S3's API looks like takes as long as most actions; this connects to nothing.
store_clients.signing_client(settings.S3_ENDPOINT_URL)
