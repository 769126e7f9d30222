"""One run that streams from a cluster, followed by a reader, and what must be true of it."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from atom_sdk.client import Client
from atom_sdk.client.runs import TERMINAL
from atom_sdk.client.transport.http import send_object
from tests.e2e import breaking
from tests.kills.patience import EVERY_S, PATIENCE_S, again, until
from tests.kills.presence import Presence
from tests.stack import Stack

MAX_RETRIES = 20
CHECKPOINT_LINES = 20
OUTPUT = "result.bin"
# It reports before it does anything else. Each line is reported once it is written.
_COMMAND = """
import json, os, select, socket
door = socket.create_connection(("127.0.0.1", {port}))
said = json.dumps([os.environ["ATOM_RUN_ID"], os.environ["ATOM_ATTEMPT"]])
door.sendall(said.encode() + b"\\n")
from atom_sdk import run
checkpoint = run.resume()
n = checkpoint.step if checkpoint else 0
if checkpoint:
    assert checkpoint.file("state.txt").read_text() == f"state of {{n}}"
told, count = b"", None
while count is None or n < count:
    print(f"line {{n}}", flush=True)
    run.log({{"n": n}}, step=n)
    door.sendall(f"{{n}}\\n".encode())
    n += 1
    if n % {every} == 0:
        run.save_checkpoint(n, {{"state.txt": f"state of {{n}}".encode()}})
    if select.select([door], [], [], {pace_s})[0]:
        heard = door.recv(64)
        if not heard:
            raise SystemExit("the test has ended")
        told += heard
        if told.endswith(b"\\n"):
            count = int(told)
(run.output_dir() / "{output}").write_bytes(b"".join(b"%d\\n" % i for i in range(count)) * 200)
"""


def command_of(presence: Presence, pace_s: float = 0.05) -> list[str]:
    """Return the command, which writes a line and a point each `pace_s` seconds."""
    parts = {"port": presence.port, "pace_s": pace_s, "every": CHECKPOINT_LINES, "output": OUTPUT}
    return ["python", "-u", "-c", _COMMAND.format(**parts)]


def output_of(line_count: int) -> bytes:
    """Return the bytes that a run of so many lines leaves."""
    return b"".join(b"%d\n" % number for number in range(line_count)) * 200


@dataclass
class StreamedRun(threading.Thread):
    """Creates a run, reads it while it grows, and ends with it."""

    name_of_run: str
    client: Client
    cluster: str
    presence: Presence
    run_id: str = ""
    state: str = ""
    complaints: list[str] = field(default_factory=list)
    # The longest log of each attempt that was ever shown, and the steps of the last curve.
    seen: dict[int, list[str]] = field(default_factory=dict)
    seen_steps: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(daemon=True, name=self.name_of_run)

    def __hash__(self) -> int:
        return id(self)

    def run(self) -> None:
        """Create the run and follow it to its end."""
        try:
            self.run_id = self._create()
            self.state = until(self._look, f"{self.name_of_run} ends")
        except Exception as error:  # whatever it was: the report says it
            self.complaints.append(f"{self.name_of_run}: {type(error).__name__}: {error}")

    def await_lines(self, count: int) -> None:
        """Wait until so many lines of an attempt were shown, or the run is over."""
        deadline = time.monotonic() + PATIENCE_S
        while not self.state and max(map(len, self.seen.values()), default=0) < count:
            assert self.is_alive(), self.complaints
            assert time.monotonic() < deadline, f"{self.name_of_run} shows no line"
            time.sleep(EVERY_S)

    def _create(self) -> str:
        """Ask for the run twice at the same moment with one key: there is one run."""
        key, answers = uuid.uuid4().hex, list[str]()
        body = {
            "name": self.name_of_run,
            "command": command_of(self.presence),
            "cluster": self.cluster,
            "image": "registry.example/team/train:1",
            "resources": {"cpus": 1},
            "max_retries": MAX_RETRIES,
        }
        path = f"projects/{self.client.project}/runs/"

        def ask() -> None:
            answers.append(str(again(lambda: self.client.http.post(path, body, key=key))["id"]))

        other = threading.Thread(target=ask, daemon=True)
        other.start()
        ask()
        other.join(PATIENCE_S)
        if len(answers) != 2 or len(set(answers)) != 1:
            self.complaints.append(f"{self.name_of_run}: one key made the runs {answers}")
        return answers[0]

    def _look(self) -> str | None:
        """Note what is shown now; return the state of a run that is over."""
        found = self.client.runs.get(self.run_id)
        number = max((int(one["number"]) for one in found["attempts"]), default=0)
        if number:
            lines = breaking.log_of(self.client, self.run_id, attempt=number)
            if len(lines) > len(self.seen.get(number, [])):
                self.seen[number] = lines
            steps = breaking.steps_of(self.client, self.run_id, "n")
            if not set(self.seen_steps) <= set(steps):
                self.complaints.append(f"{self.name_of_run}: points that were shown are gone")
            self.seen_steps = steps
        return str(found["state"]) if found["state"] in TERMINAL else None


@dataclass
class Judgement:
    """Compares one ended run with what its processes and its reader saw."""

    stack: Stack
    run: StreamedRun

    def complaints(self) -> list[str]:
        """Return what is lost, doubled or wrong; empty if all is well."""
        run, client = self.run, self.run.client
        found = [*run.complaints]
        if not run.run_id:
            return found
        now = client.runs.get(run.run_id)
        if now["state"] != "succeeded" or now["state"] != run.state:
            why = f"{now['failure_class']}: {now['failure_reason']}"
            return [*found, f"{run.name} is {now['state']} (was {run.state}): {why}"]
        count = run.presence.line_counts[run.run_id]
        attempts = breaking.attempts_of(client, run.run_id)
        found += self._starts(attempts)
        found += self._lines(attempts, count)
        found += self._points(attempts, count)
        found += self._files(count)
        found += self._objects()
        return [text if text.startswith(run.name) else f"{run.name}: {text}" for text in found]

    def _starts(self, attempts: list[dict[str, Any]]) -> Iterator[str]:
        """There is one run, and the last attempt's command ran."""
        named = "SELECT count(*) FROM jobs_run WHERE name = %s"
        with self.stack.connect() as connection:
            row = connection.execute(named, [self.run.name]).fetchone()
        if row != (1,):
            yield f"{row} runs have this name"
        numbers = [int(one["number"]) for one in attempts]
        if numbers != list(range(1, len(numbers) + 1)):
            yield f"its attempts are {numbers}"
        lives = [life.attempt for life in self.run.presence.lives_of(self.run.run_id)]
        known = [str(one["id"]) for one in attempts]
        if not set(lives) <= set(known) or lives[-1:] != known[-1:]:
            yield f"commands of the attempts {lives} ran, known are {known}"

    def _lines(self, attempts: list[dict[str, Any]], count: int) -> Iterator[str]:
        """Each attempt's lines are there once and in order, the last one's to the end."""
        run = self.run
        for attempt in attempts:
            number, first = int(attempt["number"]), int(attempt["resumed_from_step"] or 0)
            text = "".join(run.client.runs.log(run.run_id, attempt=number))
            lines = text.splitlines()
            # The last line of what was seen may have been half of one.
            said = run.seen.get(number, [])[:-1]
            if lines[: len(said)] != said:
                yield f"attempt {number}: lines that were shown are gone"
            if not text.endswith("\n"):
                lines = lines[:-1]
            numbers = breaking.numbers_in(lines)
            if numbers != list(range(first, first + len(numbers))):
                yield f"attempt {number}: its log is {numbers[:3]}…{numbers[-3:]}, not in order"
            if attempt is attempts[-1] and numbers != list(range(first, count)):
                yield f"attempt {number}: its log ends with {numbers[-3:]}, {count} were written"

    def _points(self, attempts: list[dict[str, Any]], count: int) -> Iterator[str]:
        """Each attempt's points are stored once and in order, and no step is missing."""
        run = self.run
        steps = breaking.steps_of(run.client, run.run_id, "n")
        if not set(run.seen_steps) <= set(steps):
            yield "points that were shown are gone"
        if steps != list(range(count)):
            yield f"{len(steps)} steps have points, {count} were written"
        for attempt in attempts:
            first = int(attempt["resumed_from_step"] or 0)
            own = breaking.stored_steps_of(self.stack, attempt, "n")
            if own != list(range(first, first + len(own))):
                yield f"attempt {attempt['number']}: its points are {own[:3]}…{own[-3:]}"

    def _files(self, count: int) -> Iterator[str]:
        """The output and the checkpoints have their bytes, and nothing else lies beside them."""
        run = self.run
        files = list(run.client.runs.files(run.run_id))
        outputs = [one for one in files if one["kind"] != "checkpoint"]
        if [(one["path"], one["state"]) for one in outputs] != [(OUTPUT, "persisted")]:
            yield f"its outputs are {[(one['path'], one['state']) for one in outputs]}"
            return
        if self._bytes_of(outputs[0]) != output_of(count):
            yield "its output has other bytes than were written"
        checkpoints = [one for one in files if one["kind"] == "checkpoint"]
        for one in checkpoints:
            is_state = one["path"].endswith("state.txt") and one["state"] == "persisted"
            if is_state and self._bytes_of(one) != f"state of {one['step']}".encode():
                yield f"the checkpoint {one['step']} has other bytes than were written"
        keys = [(one["attempt"], one["path"]) for one in files if one["state"] == "persisted"]
        if len(keys) != len(set(keys)):
            yield f"files are there twice: {sorted(keys)}"

    def _objects(self) -> Iterator[str]:
        """The store has an object for each stored file of the run, and no other."""
        run = self.run.run_id
        [(project,)] = self.stack.query(f"SELECT project_id FROM jobs_run WHERE id = '{run}'")
        named = f"SELECT key FROM jobs_artifact WHERE run_id = '{run}' AND key <> ''"
        keys = {key for (key,) in self.stack.query(named)}
        stored = set(self.stack.object_keys(f"p/{project}/runs/{run}/outputs/"))
        if stored != keys:
            yield f"objects without a row: {stored - keys}, rows without an object: {keys - stored}"

    def _bytes_of(self, file: dict[str, Any]) -> bytes:
        http = self.run.client.http
        return again(lambda: send_object(http, "GET", file["download_url"])).content
