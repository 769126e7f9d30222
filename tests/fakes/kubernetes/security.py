"""Pod security levels, in the recorded words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]

_PREFIX = "pod-security.kubernetes.io/"
_DEFAULT_CAPABILITIES = {
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "MKNOD",
    "NET_BIND_SERVICE",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
}
_VOLUMES = {
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "persistentVolumeClaim",
    "projected",
    "secret",
}


def level(namespace: Json | None, mode: str) -> str:
    """Return the level of a namespace in a mode: enforce, warn or audit."""
    labels = ((namespace or {}).get("metadata") or {}).get("labels") or {}
    return str(labels.get(_PREFIX + mode, "privileged"))


def offences(spec: Json, name: str) -> list[tuple[str, str]]:
    """Return what a pod's spec breaks at a level: each rule and its details."""
    if name == "privileged":
        return []
    checks = _BASELINE if name == "baseline" else _RESTRICTED
    return [pair for check in checks for pair in check(spec)]


def sentence(pairs: list[tuple[str, str]]) -> str:
    """Return offences as a message lists them."""
    return ", ".join(f"{rule} ({detail})" for rule, detail in pairs)


def _containers(spec: Json) -> list[Json]:
    return [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]


def _context(item: Json) -> Json:
    return item.get("securityContext") or {}


def _named(items: list[Json], rule: str) -> str:
    names = ", ".join(f'"{item["name"]}"' for item in items)
    return f"container{'s' if len(items) > 1 else ''} {names} {rule}"


def _host_namespaces(spec: Json) -> Iterator[tuple[str, str]]:
    used = [f"{key}=true" for key in ("hostNetwork", "hostPID", "hostIPC") if spec.get(key)]
    if used:
        yield "host namespaces", ", ".join(used)


def _privileged(spec: Json) -> Iterator[tuple[str, str]]:
    bad = [item for item in _containers(spec) if _context(item).get("privileged")]
    if bad:
        yield "privileged", _named(bad, "must not set securityContext.privileged=true")


def _host_ports(spec: Json) -> Iterator[tuple[str, str]]:
    for item in _containers(spec):
        ports = [port["hostPort"] for port in item.get("ports") or () if port.get("hostPort")]
        if ports:
            yield "hostPort", _named([item], f"uses hostPort {ports[0]}")


def _added(item: Json) -> list[str]:
    return (_context(item).get("capabilities") or {}).get("add") or []


def _base_capabilities(spec: Json) -> Iterator[tuple[str, str]]:
    for item in _containers(spec):
        bad = [name for name in _added(item) if name not in _DEFAULT_CAPABILITIES]
        if bad:
            rule = f'must not include "{bad[0]}" in securityContext.capabilities.add'
            yield "non-default capabilities", _named([item], rule)


def _host_paths(spec: Json) -> Iterator[tuple[str, str]]:
    for volume in spec.get("volumes") or ():
        if "hostPath" in volume:
            yield "hostPath volumes", f'volume "{volume["name"]}"'


def _escalation(spec: Json) -> Iterator[tuple[str, str]]:
    bad = [i for i in _containers(spec) if _context(i).get("allowPrivilegeEscalation") is not False]
    if bad:
        rule = "must set securityContext.allowPrivilegeEscalation=false"
        yield "allowPrivilegeEscalation != false", _named(bad, rule)


def _capabilities(spec: Json) -> Iterator[tuple[str, str]]:
    details: list[str] = []
    kept = [
        item
        for item in _containers(spec)
        if "ALL" not in ((_context(item).get("capabilities") or {}).get("drop") or [])
    ]
    if kept:
        details.append(_named(kept, 'must set securityContext.capabilities.drop=["ALL"]'))
    for item in _containers(spec):
        bad = [name for name in _added(item) if name != "NET_BIND_SERVICE"]
        if bad:
            rule = f'must not include "{bad[0]}" in securityContext.capabilities.add'
            details.append(_named([item], rule))
    if details:
        yield "unrestricted capabilities", "; ".join(details)


def _volume_types(spec: Json) -> Iterator[tuple[str, str]]:
    for volume in spec.get("volumes") or ():
        bad = [key for key in volume if key != "name" and key not in _VOLUMES]
        if bad:
            detail = f'volume "{volume["name"]}" uses restricted volume type "{bad[0]}"'
            yield "restricted volume types", detail


def _root(spec: Json) -> Iterator[tuple[str, str]]:
    if _context(spec).get("runAsNonRoot") is True:
        return
    bad = [item for item in _containers(spec) if _context(item).get("runAsNonRoot") is not True]
    if bad:
        rule = "must set securityContext.runAsNonRoot=true"
        yield "runAsNonRoot != true", f"pod or {_named(bad, rule)}"


def _seccomp(spec: Json) -> Iterator[tuple[str, str]]:
    def allowed(context: Json) -> bool:
        profile = context.get("seccompProfile") or {}
        return profile.get("type") in ("RuntimeDefault", "Localhost")

    if allowed(_context(spec)):
        return
    bad = [item for item in _containers(spec) if not allowed(_context(item))]
    if bad:
        rule = 'must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"'
        yield "seccompProfile", f"pod or {_named(bad, rule)}"


_BASELINE = (_host_namespaces, _privileged, _base_capabilities, _host_ports, _host_paths)
_RESTRICTED = (
    _host_namespaces,
    _privileged,
    _host_ports,
    _escalation,
    _capabilities,
    _volume_types,
    _root,
    _seccomp,
)
