"""The files of a run as folders: the newest of each path, whatever attempt wrote it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection

from atom.jobs.models import Artifact, Run

MOST = 1000

# The newest file of each path below the prefix, then what lies directly in it: `name` is the part
# of the path up to the next slash, and it is a folder if there is one.
_SQL = """
WITH newest AS (
  SELECT DISTINCT ON (file.path) file.id, substr(file.path, %(skipped)s) AS rest,
         file.size_bytes, file.created_at
  FROM jobs_artifact file JOIN jobs_attempt attempt ON attempt.id = file.attempt_id
  WHERE file.run_id = %(run)s AND starts_with(file.path, %(prefix)s)
  ORDER BY file.path, attempt.number DESC, file.created_at DESC, file.id DESC
)
SELECT split_part(rest, '/', 1) AS name, strpos(rest, '/') > 0 AS is_folder,
       count(*), sum(size_bytes)::bigint, max(created_at), (array_agg(id))[1]
FROM newest WHERE rest <> '' GROUP BY 1, 2 ORDER BY is_folder DESC, name LIMIT %(most)s
"""


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder directly in another one, with all that is below it."""

    name: str
    files: int
    size_bytes: int
    changed_at: datetime


@dataclass(frozen=True, slots=True)
class Listing:
    """Folders and files directly in a folder; `truncated` if there are more."""

    folders: list[Folder]
    files: list[Artifact]
    truncated: bool


def listing(run: Run, path: str) -> Listing:
    """Return what is in the folder `path` of the run's files, by name."""
    prefix = f"{path.strip('/')}/" if path.strip("/") else ""
    given: dict[str, Any] = {
        "run": run.pk,
        "prefix": prefix,
        "skipped": len(prefix) + 1,
        "most": MOST + 1,
    }
    with connection.cursor() as cursor:
        cursor.execute(_SQL, given)
        rows = cursor.fetchall()
    shown = rows[:MOST]
    folders = [Folder(name, *rest[:3]) for name, is_folder, *rest in shown if is_folder]
    wanted = [row[-1] for row in shown if not row[1]]
    found = Artifact.objects.select_related("attempt").in_bulk(wanted)
    return Listing(folders, [found[pk] for pk in wanted if pk in found], len(rows) > MOST)
