"""A live web process and its jobs."""

from collections.abc import Iterator
from typing import Any

import pytest

from atom.jobs.actions.launch import executor
from atom.jobs.models import Attempt
from tests.jobs.live import serve


@pytest.fixture
def live(transactional_db: None, settings: Any) -> Iterator[str]:
    """The origin of a web process that runners report to; leaves no supervisor behind."""
    with serve() as origin:
        settings.ATOM_RUNNER_API_URL = origin
        settings.ATOM_RUNNER_LOST_AFTER_S = 1
        yield origin
        for attempt_id in Attempt.objects.values_list("pk", flat=True):
            executor().kill(attempt_id)
            executor().remove(attempt_id)
