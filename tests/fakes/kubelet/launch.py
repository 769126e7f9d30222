"""The specification of a container's process, in namespaces of its own or in plain folders."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.fakes.kubernetes.cluster import Cluster

from .environment import ConfigError, environment_of, expand
from .names import hostname_of
from .process import image_paths
from .volumes import Volumes

Json = dict[str, Any]

_PATH = (
    f"{Path(sys.executable).parent}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
)
# Where a container without namespaces reads the names of pods: no /etc/hosts is its own.
HOSTS_VARIABLE = "POD_HOSTS_FILE"


@dataclass(frozen=True)
class Place:
    """Where a pod lives on this machine."""

    cluster: Cluster
    folder: Path
    volumes: Volumes
    is_isolated: bool
    extra_paths: tuple[str | tuple[str, str], ...] = ()
    # Folders of this machine, and where they are in the containers of an image.
    contents: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    memlock_bytes: int | None = None

    @property
    def hosts(self) -> Path:
        """Return the pod's hosts file."""
        return self.folder / "hosts"

    def termination_log(self, container: Json) -> Path:
        """Return the file for a container's last message."""
        return self.folder / f"termination-{container['name']}"


def process_spec(place: Place, pod: Json, container: Json) -> Json:
    """Return what the shim needs; raise ConfigError for references that lead nowhere."""
    security = dict(pod["spec"].get("securityContext") or {})
    security |= container.get("securityContext") or {}
    _check_user(security, pod, container)
    variables = environment_of(place.cluster.store, pod, container)
    environment = _basics(place, pod) | variables
    texts = [*(container.get("command") or ()), *(container.get("args") or ())]
    if not texts:
        raise ConfigError("no command specified")
    place.termination_log(container).write_bytes(b"")
    place.termination_log(container).chmod(0o666)
    root = place.folder / f"root-{container['name']}"
    root.mkdir(exist_ok=True)
    group = security.get("fsGroup")
    groups = [*([] if group is None else [group]), *(security.get("supplementalGroups") or ())]
    spec: Json = {
        "isolated": place.is_isolated,
        "root": str(root),
        "image": [
            *image_paths(),
            *place.extra_paths,
            *place.contents.get(container["image"], ()),
        ],
        "mounts": [
            *_files(place, container),
            *_devices(place, container),
            *place.volumes.mounts(container),
        ],
        "memlock_bytes": place.memlock_bytes,
        "cwd": container.get("workingDir") or "/",
        "read_only": bool(security.get("readOnlyRootFilesystem")),
        "hostname": hostname_of(pod),
        "uid": security.get("runAsUser", 0),
        "gid": security.get("runAsGroup", 0),
        "groups": groups,
        "no_new_privileges": security.get("allowPrivilegeEscalation") is False,
        "argv": [expand(text, variables) for text in texts],
        "env": environment,
    }
    return spec if place.is_isolated else _in_folders(spec, place)


def _check_user(security: Json, pod: Json, container: Json) -> None:
    if not security.get("runAsNonRoot") or security.get("runAsUser"):
        return
    metadata = pod["metadata"]
    title = f"{metadata['name']}_{metadata['namespace']}({metadata['uid']})"
    words = "image will run as root"
    if security.get("runAsUser") == 0:
        words = "container's runAsUser breaks non-root policy"
        raise ConfigError(f'{words} (pod: "{title}", container: {container["name"]})')
    raise ConfigError(
        f'container has runAsNonRoot and {words} (pod: "{title}", container: {container["name"]})'
    )


def _basics(place: Place, pod: Json) -> dict[str, str]:
    """Return the variables that the runtime and the kubelet set."""
    server = urlsplit(place.cluster.url)
    return {
        "PATH": _PATH,
        "HOME": "/",
        "HOSTNAME": hostname_of(pod),
        "KUBERNETES_SERVICE_HOST": server.hostname or "",
        "KUBERNETES_SERVICE_PORT": str(server.port),
        "KUBERNETES_SERVICE_PORT_HTTPS": str(server.port),
    }


def _files(place: Place, container: Json) -> list[Json]:
    log = container.get("terminationMessagePath") or "/dev/termination-log"
    return [
        {"source": str(place.hosts), "target": "/etc/hosts", "read_only": False},
        {"source": str(place.termination_log(container)), "target": log, "read_only": False},
    ]


def _devices(place: Place, container: Json) -> list[Json]:
    """Return the folder that an RDMA device plugin adds, with one device a count."""
    limits = (container.get("resources") or {}).get("limits") or {}
    counts = [int(count) for name, count in limits.items() if name.startswith("rdma/")]
    if not counts:
        return []
    folder = place.folder / f"infiniband-{container['name']}"
    folder.mkdir(exist_ok=True)
    for number in range(sum(counts)):
        (folder / f"uverbs{number}").touch()
    return [{"source": str(folder), "target": "/dev/infiniband", "read_only": False}]


def _in_folders(spec: Json, place: Place) -> Json:
    """Return the specification with the paths of its mounts replaced by those of this machine."""
    pairs = {
        item["target"]: item["source"] or item["folder"]
        for item in spec["mounts"]
        if item["target"] != "/etc/hosts"
    }

    paths = "|".join(re.escape(path) for path in sorted(pairs, key=len, reverse=True))
    whole = re.compile(rf"(?<![\w.-])({paths})(?![\w.-])")

    def here(text: str) -> str:
        return whole.sub(lambda match: pairs[match[1]], text)

    work = here(spec["cwd"])
    variables = {k: v if k == "PATH" else here(v) for k, v in spec["env"].items()}
    changed: Json = {
        "argv": [here(text) for text in spec["argv"]],
        # The folders of programs are this machine's own.
        "env": variables | {HOSTS_VARIABLE: str(place.hosts)},
        # A folder of the image that is no volume is the container's own.
        "cwd": work if work != spec["cwd"] else f"{spec['root']}{os.path.normpath(work)}",
    }
    return spec | changed
