"""A stand-in cluster whose pods run, shared by the tests of a module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .kubelet.playground import Playground


@pytest.fixture(scope="module")
def ground() -> Iterator[Playground]:
    """Give a cluster with two nodes; containers have namespaces where the machine allows it."""
    with Playground() as ground:
        yield ground


@pytest.fixture(scope="module")
def folders() -> Iterator[Playground]:
    """Give a cluster whose containers are plain processes in folders."""
    with Playground(isolated=False) as ground:
        yield ground
