"""A project with a researcher, and a client that pushes for them."""

import pytest

from tests.datasets.pushing import Pusher
from tests.factories.accounts import make_member, make_project


@pytest.fixture
def pusher(transactional_db: None) -> Pusher:
    """A dataset `digits` without versions. Tasks run in place, when a transaction commits."""
    project = make_project()
    return Pusher(project, make_member(project, "researcher")).create()
