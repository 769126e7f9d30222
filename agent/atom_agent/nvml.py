"""Readings of NVIDIA's management library, through the package `nvidia-ml-py` where it is there."""

from __future__ import annotations

import importlib
import itertools
import logging
import threading
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from atom_agent.readings import EventQueue, Readings

_EVENT_WAIT_MS = 1000
_log = logging.getLogger("atom_agent")


def nvml_cards() -> NvmlCards | None:
    """Return the cards of this machine; None without the package, the library or a driver."""
    try:
        library = importlib.import_module("pynvml")
    except ImportError:
        return None
    try:
        library.nvmlInit()
    except library.NVMLError as error:
        _log.info("No cards: %s", error)
        return None
    return NvmlCards(library)


class NvmlCards:
    """Measures all cards of this machine; a card that fails to answer is left out of a reading."""

    def __init__(self, library: Any) -> None:
        """`library` is the module `pynvml`, initialized."""
        self._library = library
        self._events = EventQueue()
        threading.Thread(target=self._watch, daemon=True, name="xid events").start()

    def read(self) -> Readings:
        """Measure each card, the links between cards, and take the events that wait."""
        handles = self._handles()
        gpus = []
        for index, handle in handles.items():
            with suppress(self._library.NVMLError):
                gpus.append(self._card(index, handle))
        self._add_links(gpus, handles)
        return Readings(gpus, self._events.waiting())

    def acknowledge(self, readings: Readings) -> None:
        """Drop the events of a reading that the server has received."""
        self._events.drop(readings.xid_events)

    def _handles(self) -> dict[int, Any]:
        handles = {}
        with suppress(self._library.NVMLError):
            for index in range(self._library.nvmlDeviceGetCount()):
                with suppress(self._library.NVMLError):
                    handles[index] = self._library.nvmlDeviceGetHandleByIndex(index)
        return handles

    def _card(self, index: int, handle: Any) -> dict[str, Any]:
        library = self._library
        memory = library.nvmlDeviceGetMemoryInfo(handle)
        busy = None
        # A card that is cut into instances has no busy share of its own.
        with suppress(library.NVMLError):
            busy = library.nvmlDeviceGetUtilizationRates(handle).gpu / 100
        return {
            "index": index,
            "uuid": _text(library.nvmlDeviceGetUUID(handle)),
            "model": _text(library.nvmlDeviceGetName(handle)),
            "memory_bytes": int(memory.total),
            "memory_used_bytes": int(memory.used),
            "busy": busy,
            "links": [],
        }

    def _add_links(self, gpus: list[dict[str, Any]], handles: dict[int, Any]) -> None:
        for left, right in itertools.permutations(gpus, 2):
            with suppress(self._library.NVMLError):
                kind = self._link(handles[left["index"]], handles[right["index"]])
                left["links"].append({"to": right["uuid"], "kind": kind})

    def _link(self, left: Any, right: Any) -> str:
        library = self._library
        with suppress(library.NVMLError):
            status = library.nvmlDeviceGetP2PStatus(left, right, library.NVML_P2P_CAPS_INDEX_NVLINK)
            if status == library.NVML_P2P_STATUS_OK:
                return "nvlink"
        level = library.nvmlDeviceGetTopologyCommonAncestor(left, right)
        return "pcie" if level < library.NVML_TOPOLOGY_NODE else "numa"

    def _watch(self) -> None:
        library = self._library
        try:
            events = library.nvmlEventSetCreate()
            for handle in self._handles().values():
                with suppress(library.NVMLError):
                    library.nvmlDeviceRegisterEvents(
                        handle, library.nvmlEventTypeXidCriticalError, events
                    )
            while True:
                self._wait(events)
        except library.NVMLError as error:
            _log.warning("XID events cannot be read: %s", error)

    def _wait(self, events: Any) -> None:
        library = self._library
        try:
            event = library.nvmlEventSetWait_v2(events, _EVENT_WAIT_MS)
        except library.NVMLError_Timeout:
            return
        self._events.add(
            {
                "gpu": _text(library.nvmlDeviceGetUUID(event.device)),
                "xid": int(event.eventData),
                "at": datetime.now(UTC).isoformat(),
            }
        )


def _text(value: str | bytes) -> str:
    """Older releases of the package return bytes."""
    return value.decode() if isinstance(value, bytes) else value
