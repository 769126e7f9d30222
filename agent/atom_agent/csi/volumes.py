"""Volumes of pods: publish and unpublish, each repeatable, whatever a kill cut off."""

from __future__ import annotations

import logging
import os
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from atom_agent.control import Control
from atom_agent.csi.mounting import clear_target, is_mounted, mount_volume, unmount_volume
from atom_agent.csi.records import PUBLISHED, VolumeRecord, VolumeRecords
from atom_agent.csi.requests import VIEW, VolumeRequest, checked_volume, target_folder
from atom_agent.errors import (
    ControlError,
    RequestRefused,
    VolumeError,
    VolumeExistsError,
    VolumeFullError,
    VolumeRefusedError,
    VolumeWaitsError,
)
from atom_agent.messages import PackName
from atom_agent.packs import NodePacks
from atom_sdk.disk import FULL_DISK

_log = logging.getLogger("atom_agent")
PACKS_FILE = "packs.txt"
_LOCKS = 64


class Volumes:
    """All volumes of this node; safe for threads.

    A pod sees a folder of its own: `packs/` with hard links to those packs of its input that are
    here, and `packs.txt`, which names all of them. So it sees no other pack of the node.
    """

    def __init__(self, packs: NodePacks, control: Control, kubelet: Path) -> None:
        """Use the kubelet's folder. Nothing is read yet."""
        self._packs, self._control, self._kubelet = packs, control, kubelet
        self._records = VolumeRecords(packs.folder)
        self._locks = [threading.Lock() for _ in range(_LOCKS)]
        # The server hears of one change at a time: a list of volumes never overtakes a new one.
        self._telling = threading.Lock()
        self.is_registered = False
        # The server is to hear of the volumes soon.
        self.changed = threading.Event()

    def publish(self, request: VolumeRequest) -> None:
        """Show a volume to its pod. Raises VolumeError; VolumeWaitsError until all packs came."""
        with self._locked(request.volume), _disk_errors():
            known = self._records.find(request.volume)
            record = known or _record_of(request)
            if replace(record, state="", project="", reference="", packs=()) != replace(
                _record_of(request), state=""
            ):
                raise VolumeExistsError("The volume is there with other attributes.")
            if record.state == PUBLISHED and is_mounted(request.target):
                self._link(record)
                return
            # A kill may have come between a mount and its record.
            unmount_volume(self._records, record)
            self._records.write(record)
            try:
                self._publish(record, request)
            except VolumeWaitsError:
                # The server keeps bringing the packs; the kubelet asks again.
                raise
            except BaseException:
                with suppress(VolumeError, OSError):
                    self._forget(record)
                raise

    def unpublish(self, volume: str, target: str) -> None:
        """Take a volume away; one that is unknown is gone already. Raises VolumeError."""
        folder = target_folder(target, self._kubelet)
        with self._locked(checked_volume(volume)), _disk_errors():
            record = self._records.find(volume)
            if record is None or record.target != str(folder):
                clear_target(folder)
                return
            self._forget(record)
        self.changed.set()

    def sweep(self) -> None:
        """Link packs that came, and forget volumes whose pod left the node."""
        for record in self._records.all():
            with self._locked(record.volume), suppress(VolumeError, OSError):
                if not (self._kubelet / "pods" / record.pod_uid).exists():
                    self._forget(record)
                elif record.packs:
                    self._link(record)

    def tell(self) -> None:
        """Tell the server which volumes are here; it learns the same again later if it is away."""
        with self._telling:
            volumes = [record.volume for record in self._records.all()]
            try:
                self._control.hold_volumes(volumes, self.is_registered)
            except ControlError as error:
                _log.warning("The server does not know the volumes: %s", error)

    def _publish(self, record: VolumeRecord, request: VolumeRequest) -> None:
        answer = self._open(request)
        record = replace(
            record,
            project=answer["project"],
            reference=answer["reference"],
            packs=tuple(answer["packs"]),
        )
        self._records.write(record)
        missing = self._link(record)
        if missing and record.waits:
            if problem := answer["problem"]:
                raise VolumeRefusedError(problem)
            raise VolumeWaitsError(f"{missing} of {len(record.packs)} packs are still to come.")
        if record.mode == VIEW:
            index = self._records.folder(record.volume) / "view.arrow"
            self._fetch_index(record, index)
        mount_volume(self._records, record)
        self._records.write(replace(record, state=PUBLISHED))
        _log.info("Published %s to the pod %s.", record.reference, request.pod.name)

    def _open(self, request: VolumeRequest) -> dict[str, Any]:
        pod = request.pod
        body = {
            "volume": request.volume,
            "version": request.version,
            "input": request.alias,
            "mode": request.mode,
            "namespace": pod.namespace,
            "pod": pod.name,
            "pod_uid": pod.uid,
        }
        try:
            with self._telling:
                answer = self._control.open_volume(body)
            for digest in answer["packs"]:
                PackName(answer["project"], digest)
        except RequestRefused as error:
            raise VolumeRefusedError(str(error)) from error
        except (ControlError, KeyError, TypeError, ValueError) as error:
            raise VolumeWaitsError(f"The server cannot be asked now: {error}") from error
        return answer

    def _fetch_index(self, record: VolumeRecord, index: Path) -> None:
        try:
            self._control.fetch_index(record.volume, index)
        except RequestRefused as error:
            raise VolumeRefusedError(str(error)) from error
        except ControlError as error:
            raise VolumeWaitsError(f"The index cannot be fetched now: {error}") from error

    def _link(self, record: VolumeRecord) -> int:
        """Link packs that are here; returns how many are missing. Raises OSError."""
        shown = self._records.shown(record.volume)
        folder, names = shown / "packs", shown / PACKS_FILE
        folder.mkdir(parents=True, exist_ok=True)
        for path in (shown, folder):
            # Set the mode apart, since the umask of this process is strict.
            path.chmod(0o755)
        if not names.exists():
            names.write_text("".join(f"{digest}\n" for digest in record.packs))
            names.chmod(0o444)
        there, missing = {path.stem for path in folder.iterdir()}, 0
        for digest in record.packs:
            if digest in there:
                continue
            source = self._packs.path(PackName(record.project, digest))
            try:
                os.link(source, folder / source.name)
            except FileNotFoundError:
                missing += 1
        return missing

    def _forget(self, record: VolumeRecord) -> None:
        unmount_volume(self._records, record)
        self._records.remove(record.volume)

    @contextmanager
    def _locked(self, volume: str) -> Iterator[None]:
        # A few volumes share a lock, so that the locks of volumes that are gone pile up nowhere.
        with self._locks[zlib.crc32(volume.encode()) % _LOCKS]:
            yield


def _record_of(request: VolumeRequest) -> VolumeRecord:
    return VolumeRecord(
        volume=request.volume,
        target=str(request.target),
        version=request.version,
        alias=request.alias,
        mode=request.mode,
        waits=request.waits,
        pod_uid=request.pod.uid,
    )


@contextmanager
def _disk_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        text = f"The disk of the cache: {error.strerror or error}."
        raise (VolumeFullError if error.errno in FULL_DISK else VolumeError)(text) from error
