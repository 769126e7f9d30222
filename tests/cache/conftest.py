"""A pushed version and this machine's node."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from atom.clusters.actions import ensure_local_node
from atom.clusters.models import Node
from tests.datasets.prepared import made_once
from tests.datasets.pushing import Pusher, class_files, new_pusher

SPLIT = {"test": 3, "val": 0, "seed": 7, "stratify": True}


@pytest.fixture
def pusher(committing_db: None) -> Iterator[Pusher]:
    """A dataset `digits` with version 1: three classes of four images, three of them for tests."""
    yield made_once(push_classes)
    shutil.rmtree(Path(settings.ATOM_HOME) / "cache", ignore_errors=True)


def push_classes() -> Pusher:
    pusher = new_pusher()
    pusher.push(class_files(), labels_from="folder", split=SPLIT)
    return pusher


@pytest.fixture
def node(pusher: Pusher) -> Node:
    """This machine."""
    return ensure_local_node()
