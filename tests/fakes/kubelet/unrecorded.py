"""Behaviour of the kubelet and scheduler that no transcript shows; the contract tests list it."""

from __future__ import annotations

UNRECORDED: dict[str, str] = {
    "back-off": "containers that start again, and the words and pauses of it",
    "devices": "an RDMA device plugin adds a folder of empty files; memlock is the kubelet's own",
    "claims": "a PersistentVolumeClaim is one folder of the cluster",
    "deadline": "activeDeadlineSeconds of a pod",
    "images": "private registries; a pull that succeeds; CreateContainerError, RunContainerError",
    "limits": "memory and CPU are not limited, only counted; sizeLimit holds for memory volumes",
    "node without power": "its containers end with 255 and Unknown",
    "pressure": "an eviction by the kubelet: recorded by hand with the documented words",
    "pod deleted before it ran": "its containers end with ContainerStatusUnknown",
    "probes": "probes, lifecycle hooks, sidecars, ephemeral containers: ignored",
    "scheduler": "preferred terms, affinity of pods, spread, preemption: ignored",
    "tokens and files": "volumes are filled once, not refreshed",
}
