"""Checks for tests in which a cluster breaks or lies."""

from __future__ import annotations

import pytest

from atom.clusters.models import Cluster
from atom.clusters.registration.actions import registering
from atom.jobs import reconcile, states
from atom.jobs.models import Placement, Run
from tests.fakes.kubernetes.answers import Answer
from tests.jobs.executors.kubernetes.world import World

# A page of something else at the address of a cluster.
HTML = Answer(200, b"<!DOCTYPE html><html>Sign in</html>", "text/html")


def checked(world: World) -> Cluster:
    """Return the cluster after a check."""
    world.cluster.refresh_from_db()
    return registering.check_now(world.cluster)


def assert_stands(run: Run, placement: Placement, world: World) -> None:
    """Check that nothing is concluded about a run from what its cluster answers."""
    rows = Placement.objects.filter(pk=placement.pk).values("observed", "ended_at", "removed_at")
    before = rows.get()
    with pytest.raises(registering._PROBLEMS):
        world.sync()
    assert reconcile.advance(run.pk) == states.SUBMITTED
    assert rows.get() == before
    assert run.attempts.count() == 1
