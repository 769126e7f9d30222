"""A pod's process as an object: it speaks to the server's own endpoints as the runner does."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Any

from rest_framework.test import APIClient

from atom.clusters.kubernetes.pod_identity import audience_of, installation
from atom.jobs.executors.kubernetes.engines import names
from atom_sdk.runner import frames
from atom_sdk.runner.frames import Frame
from atom_sdk.runner.pod_exits import NO_LONGER_OURS, REFUSED, SUCCESS, TERMINATED
from tests.fakes.kubernetes.cluster import Cluster as StandIn
from tests.jobs.executors.kubernetes.schedules.faults import Dice, Fault

Json = dict[str, Any]
# Sends a request to the server; None if its answer is lost, or the process there was cut off.
Send = Callable[[Callable[[], Any]], Any]


class Stage(StrEnum):
    """How far a process is."""

    JOINING = "joining"
    WORKING = "working"
    REPORTING = "reporting"
    ENDED = "ended"


class SimulatedPod:
    """One process; it keeps what the server acknowledged."""

    def __init__(self, stand_in: StandIn, pod: Json, dice: Dice, send: Send) -> None:
        self.stand_in, self.pod, self.dice, self._send = stand_in, pod, dice, send
        self.stage = Stage.JOINING
        self.exit_code: int | None = None
        self.token, self.attempt = "", ""
        # The attempts that the server let this process start.
        self.starts: list[str] = []
        self.asks_at = 0.0
        # Payloads of frames that the command wrote, and how many bytes and batches are stored.
        self.lines: list[bytes] = []
        self.acknowledged_bytes = self.acknowledged_batches = 0
        self.lines_to_write = dice.random.randint(1, 4)
        self.report: Json | None = None
        # The report that was sent, whether or not an answer came.
        self.told: Json | None = None
        self.reported = False
        self.signalled = False
        self.exit_after_signal = TERMINATED

    @property
    def uid(self) -> str:
        """Return the uid of the pod."""
        return str(self.pod["metadata"]["uid"])

    @property
    def placement(self) -> str:
        """Return the placement that the pod belongs to."""
        return str(self.pod["metadata"]["labels"][names.PLACEMENT])

    @property
    def run(self) -> str:
        """Return the run that the pod belongs to."""
        return str(self.pod["metadata"]["labels"][names.RUN])

    @property
    def is_alive(self) -> bool:
        """Return whether the process runs."""
        return self.stage != Stage.ENDED

    def terminate(self, exit_code: int) -> None:
        """Send SIGTERM; the process reports and ends with this code."""
        if self.signalled or not self.is_alive:
            return
        self.signalled, self.exit_after_signal = True, exit_code
        if self.stage == Stage.JOINING:
            self._end(exit_code)
        elif self.report is None:
            self._report({"reason": "preempted", "signal": 15})

    def kill(self, exit_code: int = 137) -> None:
        """End the process without a word."""
        self._end(exit_code)

    def step(self, now: float) -> None:
        """Do the next thing."""
        if self.stage == Stage.JOINING and now >= self.asks_at:
            self._join(now)
        elif self.stage == Stage.WORKING:
            self._work()
        elif self.stage == Stage.REPORTING:
            self._finish()

    # --- the beginning ---

    def _join(self, now: float) -> None:
        metadata = self.pod["metadata"]
        claim = {"placement": self.placement, "rank": 0, "pod": metadata["name"]}
        body = {**claim, "pod_uid": self.uid}
        token = self._cluster_token()
        if token is None:
            self._end(REFUSED)
            return
        headers = {"Authorization": f"Bearer {token}"}
        answer = self._send(
            lambda: APIClient().post("/api/v1/runner/join/", body, format="json", headers=headers)
        )
        self.asks_at = now + 1
        if answer is None or answer.status_code >= 500:
            return
        if answer.status_code != 200:
            self._end(REFUSED)
            return
        found = answer.json()
        if found["answer"] == "start":
            self.starts.append(found["job"]["attempt"])
            if self.dice.hit(Fault.JOIN_LOST, 0.15):
                return
            self.token, self.attempt = found["token"], self.starts[-1]
            self.stage = Stage.WORKING
        elif found["answer"] == "stop":
            self._end(NO_LONGER_OURS)
        else:
            self.asks_at = now + found["after_s"]

    def _cluster_token(self) -> str | None:
        namespace = self.pod["metadata"]["namespace"]
        account = self.stand_in.store.get("serviceaccounts.", namespace, names.ACCOUNT)
        if account is None:
            return None
        audiences = [audience_of(installation())]
        signer = self.stand_in.access.signer
        return signer.make(namespace, account, audiences=audiences, pod=self.pod)[0]

    # --- the work ---

    def _work(self) -> None:
        if not self.lines and self._post("started", {"pid": 7}) is None:
            return
        self.lines.append(f"line {len(self.lines)} of {self.uid}\n".encode())
        self._send_lines()
        self._send_points()
        beat = self._post("heartbeat", {})
        if beat is not None and beat["cancel"]:
            self._report({"reason": "cancelled", "signal": 15})
        elif len(self.lines) >= self.lines_to_write and self.report is None:
            self._report({"reason": "exited", "exit_code": 0})

    def _send_lines(self) -> None:
        if self.dice.hit(Fault.FRAME_EARLY, 0.15):
            self._post_frames(self.acknowledged_bytes + 5, b"early\n")
        payload, start = b"".join(self.lines), self.acknowledged_bytes
        if start == len(payload):
            return
        stored: Any = None
        for _ in self._times(Fault.FRAME_TWICE, 0.1):
            stored = self._post_frames(start, payload[start:])
            if stored is None:
                return
        self.acknowledged_bytes = stored["next"]

    def _post_frames(self, offset: int, payload: bytes) -> Any:
        body = frames.encode([Frame(frames.STDOUT, offset, 1, payload.count(b"\n"), payload)])
        return self._post("logs", body, **{"X-Atom-Offset": str(offset)})

    def _send_points(self) -> None:
        seq = self.acknowledged_batches
        stored: Any = None
        row = {"step": seq, "ts_ms": seq, "values": {"loss": 1.0}}
        for _ in self._times(Fault.POINTS_TWICE, 0.12):
            stored = self._post("metrics", json.dumps({"seq": seq, "rows": [row]}).encode())
            if stored is None:
                return
        self.acknowledged_batches = stored["next_seq"]

    # --- the end ---

    def _report(self, report: Json) -> None:
        if self.is_alive:
            self.report, self.stage = report, Stage.REPORTING

    def _finish(self) -> None:
        self._send_lines()
        if self.acknowledged_bytes < len(b"".join(self.lines)):
            return
        if self._post("logs/eof", {"bytes": self.acknowledged_bytes}) is None:
            return
        for _ in self._times(Fault.REPORT_TWICE, 0.25):
            self.told = self.report
            if self._post("exit", self.report) is None:
                # A report that came twice finds that its attempt has ended.
                if self.reported and not self.is_alive:
                    break
                return
            self.reported = True
        self._end(self._exit_code())

    def _exit_code(self) -> int:
        if self.signalled:
            return self.exit_after_signal
        return SUCCESS if self.report and self.report["reason"] == "exited" else 1

    def _times(self, fault: Fault, share: float) -> Iterator[None]:
        """Yield once, and again if chance has it that what was acknowledged is sent again."""
        yield
        if self.dice.hit(fault, share):
            yield

    def _post(self, path: str, body: Any, **headers: str) -> Any:
        """Return what the server answers; None if it does not, or refuses it."""
        if not self.is_alive:
            return None
        headers["Authorization"] = f"Bearer {self.token}"
        is_raw = isinstance(body, bytes)
        kind: Json = {"content_type": "application/octet-stream"} if is_raw else {"format": "json"}
        answer = self._send(
            lambda: APIClient().post(f"/api/v1/runner/{path}/", body, headers=headers, **kind)
        )
        if answer is None or answer.status_code in (409, 500, 503):
            return None
        if answer.status_code in (401, 403):
            self._end(TERMINATED if self.signalled else NO_LONGER_OURS)
            return None
        assert answer.status_code == 200, (path, answer.status_code, answer.content)
        return answer.json()

    def _end(self, exit_code: int) -> None:
        if self.is_alive:
            self.stage, self.exit_code = Stage.ENDED, exit_code
