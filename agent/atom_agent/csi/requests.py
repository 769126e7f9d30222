"""Requests of the kubelet, checked: the pod's author chooses attributes and could forge others.

The kubelet alone writes the target path, and it holds the pod's UID. So a claim to be another pod
is refused before the server is asked.
"""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from atom_agent.errors import VolumeRequestError

PACKS, VIEW = "packs", "view"
_KUBELET = "csi.storage.k8s.io/"
_ATTRIBUTES = frozenset({"version", "input", "mode", "wait"})
_VOLUME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_INPUT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}")
_POD_NAME = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")
_POD_UID = re.compile(r"[A-Za-z0-9-]{1,64}")
_VOLUME_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_PLUGIN_FOLDER = "kubernetes.io~csi"
_MOST_CHARACTERS = 2048


@dataclass(frozen=True, slots=True)
class Pod:
    """A pod, as the kubelet names it."""

    namespace: str
    name: str
    uid: str


@dataclass(frozen=True, slots=True)
class VolumeRequest:
    """A volume that a pod asks for: an input of its run, by `alias`, at the folder `target`.

    `waits`: the pod starts when all packs are on the node; otherwise its run streams the others.
    """

    volume: str
    target: Path
    version: str
    alias: str
    mode: str
    waits: bool
    pod: Pod


def volume_request(
    volume: str, target: str, context: Mapping[str, str], kubelet: Path
) -> VolumeRequest:
    """Check a request to publish. Raises VolumeRequestError."""
    pod = _pod_of(context)
    others = [name for name in context if not name.startswith(_KUBELET)]
    if unknown := sorted(set(others) - _ATTRIBUTES):
        raise VolumeRequestError(f"The attribute {unknown[0][:60]!r} is unknown.")
    mode = context.get("mode", PACKS)
    if mode not in (PACKS, VIEW):
        raise VolumeRequestError("The attribute mode is packs or view.")
    wait = context.get("wait", "true" if mode == VIEW else "false")
    if wait not in ("true", "false") or (mode == VIEW and wait == "false"):
        raise VolumeRequestError("The attribute wait is true or false, and true for a view.")
    return VolumeRequest(
        volume=checked_volume(volume),
        target=target_folder(target, kubelet, pod.uid),
        version=_version_of(context),
        alias=_matched(context.get("input", ""), _INPUT, "The attribute input"),
        mode=mode,
        waits=wait == "true",
        pod=pod,
    )


def checked_volume(volume: str) -> str:
    """Return the id of a volume. Raises VolumeRequestError."""
    return _matched(volume, _VOLUME, "The volume's id")


def target_folder(target: str, kubelet: Path, pod_uid: str = "") -> Path:
    """Return the folder of a pod's volume, `pods/<uid>/volumes/kubernetes.io~csi/<name>/mount`.

    Raises VolumeRequestError for any other path, and where a link leads elsewhere.
    """
    if len(target) > _MOST_CHARACTERS or "\0" in target:
        raise VolumeRequestError("The target path is too long, or no path.")
    path, pods = Path(target), kubelet / "pods"
    parts = path.relative_to(pods).parts if path.is_relative_to(pods) else ()
    if (
        os.path.normpath(target) != target
        or len(parts) != 5
        or parts[1:3] != ("volumes", _PLUGIN_FOLDER)
        or parts[4] != "mount"
        or not _POD_UID.fullmatch(parts[0])
        or not _VOLUME_NAME.fullmatch(parts[3])
    ):
        raise VolumeRequestError("The target path is not that of a pod's CSI volume.")
    if pod_uid and parts[0] != pod_uid:
        raise VolumeRequestError("The target path is that of another pod.")
    real = os.path.join(os.path.realpath(kubelet), *path.relative_to(kubelet).parts)
    if os.path.realpath(path.parent) != os.path.dirname(real) or path.is_symlink():
        raise VolumeRequestError("The target path leads through a link.")
    return path


def _pod_of(context: Mapping[str, str]) -> Pod:
    if context.get(f"{_KUBELET}ephemeral") != "true":
        raise VolumeRequestError("Only inline volumes of pods are served.")
    return Pod(
        _matched(context.get(f"{_KUBELET}pod.namespace", ""), _VOLUME_NAME, "The pod's namespace"),
        _matched(context.get(f"{_KUBELET}pod.name", ""), _POD_NAME, "The pod's name"),
        _matched(context.get(f"{_KUBELET}pod.uid", ""), _POD_UID, "The pod's UID"),
    )


def _version_of(context: Mapping[str, str]) -> str:
    text = context.get("version", "")
    try:
        if len(text) <= 36 and str(uuid.UUID(text)) == text:
            return text
    except ValueError:
        pass
    raise VolumeRequestError("The attribute version is the UUID of a version.")


def _matched(text: str, pattern: re.Pattern[str], subject: str) -> str:
    if not pattern.fullmatch(text):
        raise VolumeRequestError(f"{subject} is missing or wrong.")
    return text
