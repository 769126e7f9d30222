"""Gangs: attempts of several ranks, which start together or not at all.

A cluster's scheduler places one pod at a time: two gangs that each get a part of the nodes wait for
each other for good. So in each cluster one gang at a time gets its nodes, and one that has not got
all of them after `ATOM_GANG_FORMING_S` gives them back and waits for its next turn. A Job that
Kueue keeps suspended holds no node, and takes no turn of another one. A run with a queue of Kueue
waits for no turn: its queue admits all of its ranks at once, or none.
"""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.db.models import Exists, OuterRef, Q, QuerySet

from atom.clusters.models import Cluster
from atom.core import clock, locks
from atom.jobs import states
from atom.jobs.attempts.engines.ranks import Gang, RankPlace
from atom.jobs.executors.base import Observation
from atom.jobs.models import Attempt, Rank, Run

# A rank that waits for the others asks every second or two.
FRESH = timedelta(seconds=30)
_SUSPEND = "placed_in__observed__job__spec__suspend"
# A Job that its watcher has not seen yet may get its nodes at once, unless a queue is to admit it.
_GETS_NODES = Q(**{_SUSPEND: False}) | Q(**{f"{_SUSPEND}__isnull": True}, placed_in__queue="")


def is_gang(run: Run) -> bool:
    """Return whether the run's attempts have several ranks."""
    return run.nodes > 1


def may_form(run: Run, cluster: Cluster) -> bool:
    """Return whether a run's pods may be asked for now; the caller submits it in the transaction.

    One gang at a time forms in a cluster: others see this one once the transaction has ended.
    """
    if not _takes_turns(run):
        return True
    with locks.in_turn(cluster.pk):
        return not forms_another(run, cluster)


def forms_another(run: Run, cluster: Cluster) -> bool:
    """Return whether a run on several nodes waits for another one that gets its nodes now."""
    return _takes_turns(run) and forming_in(cluster).exclude(run=run).exists()


def _takes_turns(run: Run) -> bool:
    in_queue = run.placements.filter(ended_at=None).exclude(queue="")
    return is_gang(run) and not in_queue.exists()


def forming_in(cluster: Cluster) -> QuerySet[Attempt]:
    """Return the attempts of gangs that get their nodes now, the oldest first."""
    is_missing = Rank.objects.filter(attempt=OuterRef("pk"), identity={})
    forming = Attempt.objects.filter(
        _GETS_NODES, Exists(is_missing), cluster=cluster, state=states.SUBMITTED, run__nodes__gt=1
    )
    return forming.order_by("created_at")


def missing_ranks(attempt: Attempt) -> list[int]:
    """Return the ranks that have not asked to start, or ask no more, in order.

    A rank that has its token is not missing: its runner reports from now on.
    """
    oldest = clock.now() - FRESH
    gone = Q(identity={}) | Q(token_hash="", heartbeat_at__lt=oldest)
    return list(attempt.ranks.filter(gone).order_by("number").values_list("number", flat=True))


def is_overdue(attempt: Attempt, seen: Observation) -> bool:
    """Return whether a gang has had its time, and not all of its ranks have a node."""
    since = seen.may_start_since
    if since is None or clock.now() - since < timedelta(seconds=settings.ATOM_GANG_FORMING_S):
        return False
    return attempt.ranks.filter(identity={}).exists()


def gang_of(attempt: Attempt) -> Gang:
    """Return the ranks of an attempt, all of which have joined."""
    run = attempt.run
    job = attempt.placed_in.job_name if attempt.placed_in else ""
    places = [
        RankPlace(
            one.number,
            # Where its cluster told no address, the name that its Job's Service gives the pod.
            str(one.identity.get("address") or f"{job}-{one.number}.{job}"),
            str(one.identity.get("node") or ""),
        )
        for one in attempt.ranks.order_by("number")
    ]
    return Gang(str(attempt.pk), run.launcher, places, run.gpus)
