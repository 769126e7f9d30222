"""Pool processes of the worker: what they share with it, and that they end with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

_CHILD = """
import os
from atom import celery
celery.share_memory_with_pool()
{before}
if not (child := os.fork()):
    celery.die_with_worker()
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.parametrize(
    ("before", "expected"),
    # With the number of another process as the worker's, its parent is not the worker any more.
    [("", 0), ("os.environ['ATOM_WORKER_PID'] = '1'", -signal.SIGKILL)],
)
def test_a_pool_process_without_its_worker_ends_at_once(before: str, expected: int) -> None:
    answer = subprocess.run(
        [sys.executable, "-c", _CHILD.format(before=before)],
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "atom.settings.testing"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    assert int(answer.stdout) == expected


_LOADED = """
import sys
from atom import celery
celery.load_what_tasks_need()
before = set(sys.modules)
from PIL import Image
from atom.core import storage
Image.preinit()
storage.objects()
print(*sorted(name for name in set(sys.modules) - before if name.startswith(("PIL", "boto"))))
"""


def test_pool_processes_share_what_their_first_task_would_load() -> None:
    answer = subprocess.run(
        [sys.executable, "-c", _LOADED],
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "atom.settings.testing"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    assert answer.stdout.split() == []
