"""A live web process and its jobs."""

from collections.abc import Iterator
from typing import Any

import pytest
from rest_framework.test import APIClient

from atom.accounts.models import Project
from atom.clusters.actions import beat_local_node
from atom.jobs.executors import local_executor
from atom.jobs.models import Attempt
from tests.factories.accounts import make_member, make_project
from tests.jobs.live import serve


@pytest.fixture
def live(transactional_db: None, settings: Any) -> Iterator[str]:
    """The origin of a web process that runners report to; leaves no supervisor behind."""
    with serve() as origin:
        settings.ATOM_RUNNER_API_URL = origin
        settings.ATOM_RUNNER_LOST_AFTER_S = 1
        yield origin
        for attempt_id in Attempt.objects.values_list("pk", flat=True):
            local_executor().kill(attempt_id)
            local_executor().remove(attempt_id)


@pytest.fixture
def project() -> Project:
    """A project, and a machine that takes its runs."""
    beat_local_node()
    return make_project("vision")


@pytest.fixture
def api(project: Project) -> APIClient:
    """The API as a researcher of the project."""
    client = APIClient()
    client.force_authenticate(make_member(project, "researcher"))
    return client
