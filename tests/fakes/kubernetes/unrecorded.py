"""Behaviour of the stand-in that no transcript shows; the run of the contract tests lists it."""

from __future__ import annotations

UNRECORDED: dict[str, str] = {
    "access": "TokenReview, a token that is bound to a pod, ClusterRoles, forbidden paths",
    "apply": "apply on the status, sets, a manager that two versions of a kind share",
    "cel": "rules that name a field which does not exist: they are not checked",
    "decoding": "wrong types in a body, duplicate fields below the first level, YAML bodies",
    "faults": "dropped, silent and disturbed watches; 500, 503 and 504; lost answers",
    "list": "a cursor of a list of all namespaces, resourceVersion together with limit",
    "logs": "following with time stamps; a container that waits for another reason than an image",
    "nodes": "a lost node marks its pods at once; the real one waits for the tolerations",
    "jobs": "work queues, onPodConditions beside DisruptionTarget, maxFailedIndexes, managedBy",
    "pods": "updates of a running pod beside its gates, resize, ephemeral containers",
    "quotas": "quotas on objects other than pods; no status is written",
    "selectors": "faults of label selectors beside a second equals sign",
    "watch": "reordered bookmarks; an end in good order at the stop of the server",
}
