"""The work of an executor: it starts attempts in one cluster, observes them and ends them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol
from uuid import UUID

from atom.accounts.models import Project
from atom.clusters.models import Cluster, Node
from atom.clusters.quotas.engines.limits import PodDemand
from atom.jobs.executors.kubernetes.engines.wait_reasons import WaitReason
from atom.jobs.failures.engines.failures import Failure
from atom.jobs.models import Attempt, ClusterJob, EnvironmentBuild, Placement, Run, Runtime

# Reasons of an attempt's end: its runner was told to stop by the cluster, or a new process of the
# same rank has come.
PREEMPTED = "preempted"
REPLACED = "replaced"


class LaunchFailedError(Exception):
    """The supervisor did not start; the message is its own, or says why there is none."""


class ClusterAwayError(Exception):
    """The cluster does not answer, or is not well: the run is started when it is again."""


class JoinRefusedError(Exception):
    """Something that is no rank of this placement asked to start; the message says why."""


class NothingHeldError(Exception):
    """The attempt holds nothing in the cluster any more: it ended meanwhile."""


@dataclass(frozen=True, slots=True)
class Admitted:
    """A rank begins with its job and the token of its runner."""

    job: dict[str, Any]
    token: str


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Variables and data that a job finds where it runs.

    The run's own variables override `environment`; `devices` override them all.
    """

    environment: dict[str, str] = field(default_factory=dict)
    devices: dict[str, str] = field(default_factory=dict)
    # One for each input, as `job.json` describes it.
    datasets: list[dict[str, Any]] = field(default_factory=list)
    # A packed Python environment that the runner unpacks: url, sha256, size_bytes. One that the
    # image has is `in_image`.
    archive: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class RankObservation:
    """A rank's supervisor as its executor sees it."""

    alive: bool
    # The executor knows the rank again by it.
    identity: Mapping[str, Any] = field(default_factory=dict)
    # Not validated: a command may have written it.
    exit_report: object = None
    # The node that it is on, and whether its cluster counts on that node; "" and None: not known.
    node: str = ""
    is_node_ready: bool | None = None


@dataclass(frozen=True, slots=True)
class LostRank:
    """A rank that its cluster counts as lost with its node, though nothing says that it ended."""

    node: str
    since: datetime


@dataclass(frozen=True, slots=True)
class Observation:
    """An attempt as its executor sees it: its ranks by their number, none if it was not started."""

    ranks: Mapping[int, RankObservation] = field(default_factory=dict)
    # Nothing of it runs or will: no report can come any more.
    is_final: bool = False
    # The reason of its end that the cluster itself gives; None if it gives none.
    failure: Failure | None = None
    # Why a rank that has not started never will, though its cluster still tries.
    never_starts: Failure | None = None
    # Since when its cluster may start its pods: not while its queue keeps them; None: not known.
    may_start_since: datetime | None = None
    # Ranks that are over if their runners are silent too.
    lost: Mapping[int, LostRank] = field(default_factory=dict)
    # Whether a queue keeps its pods from starting; None: not known.
    is_suspended: bool | None = None

    @property
    def launched(self) -> bool:
        """Whether the attempt was started."""
        return bool(self.ranks)

    @property
    def alive(self) -> bool:
        """Whether any rank's supervisor lives."""
        return any(rank.alive for rank in self.ranks.values())


class Phase(StrEnum):
    """How far a cluster is with an attempt; it is that of the pod that is least far."""

    # The cluster has the Job, and no pod of it yet.
    SUBMITTED = "submitted"
    # The Job is suspended: its queue has not admitted it.
    QUEUED = "queued"
    # Its queue has admitted it; there are no pods yet.
    ADMITTED = "admitted"
    SCHEDULING = "scheduling"
    # A node has the pod and fetches images and volumes.
    PULLING = "pulling"
    INITIALIZING = "initializing"
    RUNNING = "running"
    # The cluster takes its pods away.
    STOPPING = "stopping"
    # Its pods have ended, and no other one is started.
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class StartTimes:
    """When the pods of an attempt had a node each, and when their commands' containers started."""

    scheduled_at: datetime | None = None
    pulled_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """A process that a cluster started, as it describes itself, and the token that proves it."""

    token: str = field(repr=False)
    rank: int
    pod: str
    pod_uid: str


@dataclass(frozen=True, slots=True)
class Proven:
    """A process that claims to be a rank, as the cluster itself describes it."""

    rank: int
    # The executor knows the rank again by it.
    identity: Mapping[str, Any]
    node: str


class Executor(Protocol):
    """Runs attempts in one cluster. Each method may be called again after it was cut off."""

    @property
    def api_url(self) -> str:
        """Atom's address as jobs reach it."""

    def reaches(self, node: Node | None) -> bool:
        """Return whether this process can look after what runs on the node."""

    def surroundings(self, attempt: Attempt) -> Surroundings:
        """Return what the attempt's job finds where it runs."""

    def start(self, attempt: Attempt, admit: Callable[[int], Admitted]) -> Observation:
        """Start the attempt, unless that was done before.

        `admit` is given the number of a rank. Only the caller that starts it calls it, as a second
        token takes away the first. Raises NothingHeldError, LaunchFailedError, ClusterAwayError,
        what keeps the attempt's data away (SelectionEmpty, MountError, OSError), and what `admit`
        raises.
        """

    def observe(self, attempt: Attempt) -> Observation:
        """Return whether the attempt was started, which ranks live, and their exit reports.

        It goes by the attempt as it was read, with its `run`, `cluster` and `placed_in`.
        """

    def namespace_of(self, cluster: Cluster, project: Project) -> str:
        """Return where in the cluster the project's runs are, "" if it makes no difference."""
        return ""

    def goes_on(self, placement: Placement) -> bool:
        """Return whether the next attempt can run in the same placement."""
        return False

    def prove(self, placement: ClusterJob, claim: Claim) -> Proven:
        """Return which rank of the Job a process is that the cluster started by itself.

        Raises JoinRefusedError, ClusterAwayError.
        """
        raise JoinRefusedError("This cluster starts no process by itself.")

    def is_gone(self, placement: Placement, identity: Mapping[str, Any]) -> bool:
        """Return whether nothing runs any more of a rank that joined. Raises ClusterAwayError."""
        return True

    def waits_for(self, attempt: Attempt) -> WaitReason | None:
        """Return why the cluster has not started the attempt, None if it says nothing."""
        return None

    def phase_of(self, attempt: Attempt) -> Phase | None:
        """Return how far the cluster is with the attempt, None if it has no phases."""
        return None

    def start_times(self, placement: Placement) -> StartTimes:
        """Return when the pods of a placement got their nodes and images, as far as it is known."""
        return StartTimes()

    def ungate(self, placement: Placement, preferred: Sequence[tuple[str, int]]) -> bool:
        """Let the queue admit a placement that waited for its data; return whether that is done.

        `preferred` has names of nodes with weights of 1 to 100. It is safe to repeat.
        """
        return True

    def logs(self, attempt_id: UUID | str, rank: int) -> str:
        """Return the end of what a rank's supervisor itself wrote, for one that never reported."""

    def kill(self, attempt_id: UUID | str) -> None:
        """End all ranks and everything that belongs to the attempt, at once."""

    def conclude(self, attempt: Attempt, *, is_last: bool) -> None:
        """Give up what the cluster holds for an attempt that is over; `remove` is for later.

        `is_last`: the run is over too.
        """
        return

    def kill_leftovers(self, attempt_id: UUID | str) -> None:
        """End processes that outlived their supervisor."""

    def remove(self, attempt_id: UUID | str) -> None:
        """Delete what the attempt left behind; its logs and outputs are stored elsewhere."""


class Environments(Protocol):
    """Makes the Python environments of runs in one kind of cluster."""

    def find(self, requirements: str, image: str, project: Project) -> tuple[str, Runtime | None]:
        """Return the digest of an environment, and the environment if it is known."""

    def ensure(self, requirements: str, image: str, project: Project) -> Runtime | None:
        """Return the environment of a project's run, None if it needs none but its image."""

    def request(self, runtime: Runtime) -> None:
        """Have an environment tried again that failed or is gone; a person asks for it."""

    def is_ready(self, runtime: Runtime) -> bool:
        """Return whether attempts can start in the environment."""

    def nudge(self, run: Run, runtime: Runtime) -> None:
        """Have the environment built that a run waits for; called every second."""

    def advance(self, build: EnvironmentBuild) -> None:
        """Take the next step of a build, from what is known of its Job; called every second."""

    def start(self, build: EnvironmentBuild) -> None:
        """Ask the cluster of a build for its Job, unless it is there."""

    def spec(self, build: EnvironmentBuild) -> dict[str, Any]:
        """Return what the process of a build gets to work with."""

    def waits_for(self, runtime: Runtime) -> WaitReason | None:
        """Return why no process builds the environment yet, None if one does."""
        return None

    def build_demand(self, requirements: str, image: str, project: Project) -> PodDemand | None:
        """Return what the pod of the build would hold, None if none has to build."""
        return None
