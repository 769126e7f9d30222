"""How fields are owned: which lists are merged by a key, which fields are one unit.

The official client's models do not carry this, so it is a table by the last names of a path.
"""

from __future__ import annotations

# Name of a list: the keys by which its items are known.
_KEYS: dict[str, tuple[str, ...]] = {
    "conditions": ("type",),
    "containers": ("name",),
    "containerStatuses": ("name",),
    "env": ("name",),
    "ephemeralContainers": ("name",),
    "hostAliases": ("ip",),
    "imagePullSecrets": ("name",),
    "initContainers": ("name",),
    "ownerReferences": ("uid",),
    "podIPs": ("ip",),
    "resourceClaims": ("name",),
    "schedulingGates": ("name",),
    "topologySpreadConstraints": ("topologyKey", "whenUnsatisfiable"),
    "volumeDevices": ("devicePath",),
    "volumeMounts": ("mountPath",),
    "volumes": ("name",),
}
_CONTAINER_PORTS = ("containerPort", "protocol")
_SERVICE_PORTS = ("port", "protocol")
SETS = {"finalizers"}
# Fields that are owned as a whole.
UNITS = {
    "clusterIPs",
    "configMapKeyRef",
    "fieldRef",
    "labelSelector",
    "nodeSelector",
    "resourceFieldRef",
    "secretKeyRef",
    "selector",
}


def merge_keys(path: str) -> tuple[str, ...]:
    """Return the keys of the list at a path, or nothing when it is replaced as a whole."""
    names = path.split(".")
    if names[-1] == "ports":
        return _CONTAINER_PORTS if "template" in names or "containers" in names else _SERVICE_PORTS
    return _KEYS.get(names[-1], ())
