"""An agent: loops that speak with the server, fetches, and the server for peers."""

from __future__ import annotations

import logging
import threading
from dataclasses import asdict
from typing import Any

from atom_agent.cards import cards_of
from atom_agent.control import Backoff, Control
from atom_agent.csi.driver import Driver
from atom_agent.csi.volumes import Volumes
from atom_agent.errors import ControlError
from atom_agent.fetching import Fetcher
from atom_agent.messages import Membership, Orders
from atom_agent.outbox import Outbox
from atom_agent.packs import NodePacks
from atom_agent.peers import PeerServer
from atom_agent.readings import Cards
from atom_agent.settings import Settings
from atom_agent.sources import Sources

_FETCH_GRACE_S = 5.0
_LAST_WORK_S = 2.0
_WORK_S = 10.0
_LEAST_S, _MOST_S = 0.05, 60.0
_log = logging.getLogger("atom_agent")


class Agent:
    """All parts of one agent. The server's absence loses nothing: results wait in the outbox."""

    def __init__(self, settings: Settings) -> None:
        """Listen for peers and clean up after a killed agent. Raises OSError, CardsFileError."""
        self.packs = NodePacks(settings.cache, settings.limit_bytes)
        self._leftovers()
        self._control = Control(settings)
        self._outbox = Outbox()
        self._sources = Sources()
        self._cards: Cards = cards_of(settings.cards_file)
        self._wake = threading.Event()
        self._stop = threading.Event()
        self._send_inventory = threading.Event()
        self._fetcher = Fetcher(
            self.packs, self._sources, self._outbox, settings.most_fetches, self._wake.set
        )
        self._peers = PeerServer(self.packs, settings.host, settings.port, settings.most_readers)
        self._turns = self._peers.turns
        self._driver = self._driver_of(settings)
        self._sequence = 0
        self._threads = [
            threading.Thread(target=self._peers.serve_forever, args=(0.2,), daemon=True),
            threading.Thread(target=self._work_loop, daemon=True),
            threading.Thread(target=self._report_loop, daemon=True),
        ]

    def start(self) -> None:
        """Begin to serve the kubelet and peers, and to ask for work. SettingError, OSError."""
        if self._driver is not None:
            self._driver.start()
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End fetches, tell the server, serve no peer any more: within 10 seconds."""
        self._stop.set()
        self._wake.set()
        if self._driver is not None:
            self._driver.stop()
        self._fetcher.stop(_FETCH_GRACE_S)
        try:
            self._exchange(_LAST_WORK_S)
        except ControlError as error:
            _log.warning("The server did not take the last results: %s", error)
        self._peers.shutdown()
        self._peers.server_close()
        self._sources.close()
        self._control.close()

    def _driver_of(self, settings: Settings) -> Driver | None:
        if settings.kubelet is None:
            return None
        volumes = Volumes(self.packs, self._control, settings.kubelet)
        return Driver(volumes, settings.node, settings.kubelet)

    def _leftovers(self) -> None:
        try:
            if count := self.packs.remove_leftovers():
                _log.info("Removed %d unfinished files of an earlier agent.", count)
        except OSError as error:
            _log.warning("The cache cannot be cleaned: %s", error)

    def _work_loop(self) -> None:
        backoff = Backoff()
        while not self._stop.is_set():
            self._turns.turn("work")
            self._wake.clear()
            try:
                orders = self._exchange(_WORK_S)
            except ControlError as error:
                _log.warning("Work: %s", error)
                # Results wait as long as the server is away, so nothing wakes this pause.
                self._pause("work", backoff.next_s(), self._stop)
                continue
            except Exception:
                _log.exception("Work")
                self._pause("work", backoff.next_s(), self._stop)
                continue
            backoff.clear()
            self._pause("work", min(max(orders.after_s, _LEAST_S), _MOST_S), self._wake)

    def _report_loop(self) -> None:
        backoff = Backoff()
        while not self._stop.is_set():
            self._turns.turn("report")
            try:
                pause_s = self._report()
                backoff.clear()
            except (ControlError, OSError) as error:
                _log.warning("Report: %s", error)
                pause_s = backoff.next_s()
            except Exception:
                _log.exception("Report")
                pause_s = backoff.next_s()
            self._pause("report", pause_s, self._stop)

    def _pause(self, loop: str, pause_s: float, ends: threading.Event) -> None:
        self._turns.turn(loop, pause_s)
        ends.wait(pause_s)

    def _membership(self) -> Membership:
        member, is_new = self._control.membership()
        if is_new:
            self.packs.set_limit(member.limit_bytes)
            self._peers.key = member.peer_key
            self._send_inventory.set()
            if self._driver is not None:
                self._driver.wake()
        return member

    def _exchange(self, timeout_s: float) -> Orders:
        """Send results, take orders. Raises ControlError; the results then wait."""
        self._membership()
        results = self._outbox.snapshot()
        orders = self._control.work(
            self._fetcher.room, results, self._fetcher.progress(), timeout_s
        )
        self._outbox.acknowledge(results)
        self._obey(orders)
        return orders

    def _obey(self, orders: Orders) -> None:
        for fetch in orders.cancel:
            self._fetcher.cancel(fetch)
        if self._stop.is_set():
            return
        for removal in orders.remove:
            try:
                if self.packs.carry_out(removal):
                    self._outbox.add_removal(removal.pack)
                else:
                    self._outbox.add_verified(removal.pack)
                self._wake.set()
            except OSError as error:
                # The server orders it again; the next report names the disk's problem.
                _log.warning("The pack %s stays: %s", removal.pack.digest, error)
        for fetch_order in orders.fetches:
            self._fetcher.start(fetch_order)

    def _report(self) -> float:
        """Send a report; returns the seconds until the next one."""
        member = self._membership()
        is_whole = self._send_inventory.is_set()
        self._send_inventory.clear()
        readings = self._cards.read()
        self._sequence += 1
        report: dict[str, Any] = {
            "sequence": self._sequence,
            "disk": asdict(self.packs.state()),
            "packs": None,
            "gpus": readings.gpus,
            "xid_events": readings.xid_events,
        }
        try:
            if is_whole:
                report["packs"] = self.packs.inventory()
            answer = self._control.report(report)
        except (ControlError, OSError):
            # Neither an inventory nor an event is lost with a report that failed.
            if is_whole:
                self._send_inventory.set()
            raise
        self._cards.acknowledge(readings)
        self.packs.set_limit(answer.limit_bytes)
        if answer.send_packs:
            self._send_inventory.set()
            return _LEAST_S
        return member.report_every_s
