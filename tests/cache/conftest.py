"""A pushed version and this machine's node."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from atom.clusters.actions import ensure_local_node
from atom.clusters.models import Node
from tests.datasets.pushing import Pusher, class_files
from tests.factories.accounts import make_member, make_project

SPLIT = {"test": 3, "val": 0, "seed": 7, "stratify": True}


@pytest.fixture
def pusher(transactional_db: None) -> Iterator[Pusher]:
    """A dataset `digits` with version 1: three classes of four images, three of them for tests."""
    project = make_project()
    client = Pusher(project, make_member(project, "researcher")).create()
    client.push(class_files(), labels_from="folder", split=SPLIT)
    yield client
    shutil.rmtree(Path(settings.ATOM_HOME) / "cache", ignore_errors=True)


@pytest.fixture
def node(transactional_db: None) -> Node:
    """This machine."""
    return ensure_local_node()
