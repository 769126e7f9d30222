"""The answers that the replay does not compare, and the reasons."""

from __future__ import annotations

_FLOW = "flow control's own controller writes this status; a fault answers its 429"
_DRA = "the scheduler allocates devices; its objects are played in"
_CEL = "the compiler of device selectors and its messages are not implemented"
_SHORT = "the recording has only parts of these events; the transitions of Jobs have their own test"
_BUILD = "the names of one build's checks"
_LOAD = "how many of forty requests at once are refused depends on the machine"
_CHANCE = "three events or fewer: how often a failed creation was tried is chance"

_LIMITS: dict[tuple[str, str], str] = {
    ("flow-control-429", "the 40 at once, by status"): _LOAD,
    ("flow-control-429", "the flow schema: its conditions"): _FLOW,
    ("pod-security", "why: an event"): _CHANCE,
    ("eviction-and-pdb", "watch: jobs"): _SHORT,
    ("eviction-and-pdb", "watch: pods"): _SHORT,
    ("eviction-and-pdb", "watch: events (shortened)"): _SHORT,
    ("resource-k8s-io-v1", "a claim with broken CEL"): _CEL,
    ("resource-k8s-io-v1", "the claim: allocated and reserved"): _DRA,
    ("resource-k8s-io-v1", "all claims: the generated one too"): _DRA,
    ("resource-k8s-io-v1", "their conditions"): _DRA,
    ("resource-k8s-io-v1", "claims at the end"): _DRA,
    ("resource-k8s-io-v1", "watch: pods"): _DRA,
    ("resource-k8s-io-v1", "watch: events (shortened)"): _DRA,
    ("misc-answers", "health"): _BUILD,
}

NOT_COMPARED: dict[tuple[str, str, str], str] = {
    ("limits", scenario, note): reason for (scenario, note), reason in _LIMITS.items()
}
_QUOTA = ("jobs", "job-resource-quota", "the quota")
NOT_COMPARED[_QUOTA] = "no quota controller writes a status here"

_RACE = "tallies of a race that the batching of one second decides"
_NODES = "the node life cycle evicts these pods; its steps are played in"

# Stories of Jobs that belong to other controllers.
STORIES: dict[str, str] = {
    "job-node-taint-noexecute": _NODES,
    "job-node-deleted-podgc": _NODES,
    "job-node-unreachable-then-back": _NODES,
    "job-two-pods-one-index": _NODES,
    "job-preempted-by-scheduler": "the scheduler chooses the victims",
    "pod-unschedulable": "the scheduler writes these texts",
    "job-suspend-races-policy": _RACE,
    "job-suspend-races-policy-remedies": _RACE,
}

# The kubelet's stories: scenarios, and notes of single answers.
KUBELET: dict[str, str] = {
    "kubelet-suspend-races-policy": _RACE,
    "log: since 1 s": "the lines of today come at once",
    "two/2 of kubelet-frozen-then-back": "the taint manager deletes it after its toleration",
}

# No client can bring these about at will: a real server is not asked. The beginnings of notes.
ONLY_HERE = (
    "discovery /version",
    "list at exactly an old resourceVersion",
    "list page 2 with a continue token older",
    "one of 40 lists at once",
    "watch from a resourceVersion that is gone",
    "watch from resourceVersion 1: no 410 here",
    "watch with allowWatchBookmarks, timeoutSeconds 75",
)
