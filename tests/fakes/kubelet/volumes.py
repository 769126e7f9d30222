"""The volumes of a pod: folders of this machine, filled and owned as a kubelet does it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.fakes.kubernetes.cluster import Cluster
from tests.fakes.kubernetes.quantities import parse_quantity

from .environment import ConfigError, config_data, field_of, resource_of, secret_data

Json = dict[str, Any]
# Fills the folder of an inline CSI volume: folder, its attributes, the pod. A driver that mounts a
# folder of its own returns it; its owner stays, as with a CSIDriver whose policy of groups is None.
Driver = Callable[[Path, Json, Json], Path | None]

_TOKEN_LIFE_S = 3600


class MountError(Exception):
    """A volume cannot be mounted; the text is the event's."""


class Volumes:
    """The volumes of one pod."""

    def __init__(
        self, cluster: Cluster, pod: Json, folder: Path, claims: Path, drivers: dict[str, Driver]
    ) -> None:
        self.cluster, self.pod, self.folder = cluster, pod, folder
        self.claims, self.drivers = claims, drivers
        self._sources: dict[str, Path] = {}
        security = pod["spec"].get("securityContext") or {}
        self.group: int | None = security.get("fsGroup")
        self.user: int = security.get("runAsUser", 0)

    def mount(self) -> None:
        """Make and fill all volumes; raise MountError for the first that fails."""
        for volume in self.pod["spec"].get("volumes") or ():
            try:
                self._sources[volume["name"]] = self._make(volume)
            except ConfigError as error:
                words = f'MountVolume.SetUp failed for volume "{volume["name"]}" : {error}'
                raise MountError(words) from error

    def mounts(self, container: Json) -> list[Json]:
        """Return what a container's file system shows, as the shim reads it."""
        return [self._mount(item) for item in container.get("volumeMounts") or ()]

    def _mount(self, item: Json) -> Json:
        source, target = self._sources[item["name"]], item["mountPath"]
        if (size := self._own_memory(item["name"])) is not None:
            return {"target": target, "options": size, "source": None, "folder": str(source)}
        if part := item.get("subPath"):
            source = source / part
            if not source.exists():
                source.mkdir(parents=True)
        read_only = bool(item.get("readOnly"))
        return {"target": target, "source": str(source), "read_only": read_only}

    def _own_memory(self, name: str) -> str | None:
        """Return the tmpfs options of a memory volume that only one container uses."""
        volume = next(item for item in self.pod["spec"]["volumes"] if item["name"] == name)
        source = volume.get("emptyDir") or {}
        spec = self.pod["spec"]
        users = [
            mount
            for item in (*(spec.get("initContainers") or ()), *spec["containers"])
            for mount in item.get("volumeMounts") or ()
            if mount["name"] == name
        ]
        if source.get("medium") != "Memory" or len(users) != 1 or users[0].get("subPath"):
            return None
        limit = parse_quantity(source.get("sizeLimit", "0")) // 1000
        return "mode=1777" + (f",size={limit}" if limit else "")

    def _make(self, volume: Json) -> Path:
        name = volume["name"]
        kind, source = next((k, v) for k, v in volume.items() if k != "name")
        if kind == "hostPath":
            return Path(source["path"])
        if kind == "persistentVolumeClaim":
            return self._claim(source["claimName"])
        folder: Path = self.folder / name
        folder.mkdir(parents=True, exist_ok=True)
        if kind == "emptyDir":
            folder.chmod(0o777)
        elif kind == "csi":
            if mounted := self._csi(folder, source):
                return mounted
        else:
            sources = source["sources"] if kind == "projected" else [{kind: source}]
            mode = source.get("defaultMode", 0o644)
            for part in sources:
                for path, data in self._files(part).items():
                    self._write(folder, path, data, mode)
        self._give(folder)
        return folder

    def _claim(self, name: str) -> Path:
        namespace = self.pod["metadata"]["namespace"]
        if self.cluster.store.get("persistentvolumeclaims.", namespace, name) is None:
            raise ConfigError(f'persistentvolumeclaim "{name}" not found')
        folder: Path = self.claims / namespace / name
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o777)
        return folder

    def _csi(self, folder: Path, source: Json) -> Path | None:
        driver = self.drivers.get(source["driver"])
        if driver is None:
            raise ConfigError(
                "kubernetes.io/csi: mounter.SetUpAt failed to get CSI client: driver name "
                f"{source['driver']} not found in the list of registered CSI drivers"
            )
        return driver(folder, source.get("volumeAttributes") or {}, self.pod)

    def _give(self, folder: Path) -> None:
        if self.group is None or os.geteuid() != 0:
            return
        os.chown(folder, -1, self.group)
        folder.chmod(folder.stat().st_mode | 0o2070)

    def _write(self, folder: Path, path: str, data: bytes, mode: int) -> None:
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        # A kubelet changes such files by renaming, so that no reader sees a half.
        fresh = target.with_name(f".{target.name}.new")
        fresh.write_bytes(data)
        fresh.chmod(mode)
        if self.group is not None and os.geteuid() == 0:
            os.chown(fresh, -1, self.group)
            fresh.chmod(mode | 0o040)
        fresh.rename(target)

    def _files(self, part: Json) -> dict[str, bytes]:
        kind, source = next(iter(part.items()))
        if kind == "serviceAccountToken":
            return {source["path"]: self._token(source)}
        if kind == "downwardAPI":
            return {item["path"]: self._fact(item) for item in source.get("items") or ()}
        if kind in ("secret", "configMap"):
            return self._data(kind, source)
        raise ConfigError(f"no volume plugin matched: {kind}")

    def _fact(self, item: Json) -> bytes:
        if field := item.get("fieldRef"):
            return field_of(self.pod, field["fieldPath"]).encode()
        return resource_of(self.pod, "", item["resourceFieldRef"]).encode()

    def _data(self, kind: str, source: Json) -> dict[str, bytes]:
        namespace = self.pod["metadata"]["namespace"]
        name = str(source.get("secretName") or source.get("name"))
        word, read = ("secret", secret_data) if kind == "secret" else ("configmap", config_data)
        data = read(self.cluster.store, namespace, name)
        if data is None:
            if source.get("optional"):
                return {}
            raise ConfigError(f'{word} "{name}" not found')
        if not source.get("items"):
            return data
        missing = [item["key"] for item in source["items"] if item["key"] not in data]
        if missing and not source.get("optional"):
            raise ConfigError(f"references non-existent {word} key: {missing[0]}")
        return {item["path"]: data[item["key"]] for item in source["items"] if item["key"] in data}

    def _token(self, source: Json) -> bytes:
        namespace = self.pod["metadata"]["namespace"]
        name = self.pod["spec"]["serviceAccountName"]
        account = self.cluster.store.get("serviceaccounts.", namespace, name)
        if account is None:
            raise ConfigError(f'failed to fetch token: serviceaccounts "{name}" not found')
        audiences = [source["audience"]] if source.get("audience") else None
        seconds = int(source.get("expirationSeconds", _TOKEN_LIFE_S))
        signer = self.cluster.access.signer
        token, _ = signer.make(
            namespace, account, audiences=audiences, seconds=seconds, pod=self.pod
        )
        return token.encode()
