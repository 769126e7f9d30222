"""The work of each client: the main job again and again, with every answer noted in the ledger.

A client is as patient as the platform's own: it repeats what was not answered, with the same
idempotency key, and looks first whether it has happened.
"""

from __future__ import annotations

import random
import threading
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from blake3 import blake3
from PIL import Image

from atom_sdk.client import Client
from atom_sdk.client.push.push import PushOptions
from atom_sdk.client.runs import TERMINAL
from tests.kills.patience import PATIENCE_S, again, until
from tests.soak.ledger import Ledger, ModelNote, RunNote, VersionNote

LABELS = ("cat", "dog")
LABELLED, UNLABELLED = 16, 8
LINES = 120
MAX_RETRIES = 20
COUNTING = f"""
import time
from atom_sdk import run
checkpoint = run.resume()
first = checkpoint.step if checkpoint else 0
for n in range(first, {LINES}):
    print(f"line {{n}}", flush=True)
    run.log({{"n": n}}, step=n)
    if n % 20 == 19:
        run.save_checkpoint(n + 1, {{"state.txt": str(n).encode()}})
    time.sleep(0.05)
run.save_model({{"weights.txt": b"w" * 1000}}, framework="none", metrics={{"n": {LINES}}})
"""


@dataclass
class Person(threading.Thread):
    """One client; `trains` with the platform's own workflow now and then."""

    number: int
    client: Client
    ledger: Ledger
    folder: Path
    seed: int
    over: threading.Event
    doing: str = "nothing yet"
    threads: list[threading.Thread] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(daemon=True, name=f"person {self.number}")
        self._random = random.Random(self.seed)
        http = self.client.http._client  # what users see, each time it is seen
        http.event_hooks["response"].append(self._look_at)

    def __hash__(self) -> int:
        return id(self)

    def run(self) -> None:
        """Do the main job until it is over; the job that was begun is done to its end."""
        cycle = 0
        while not self.over.is_set():
            cycle += 1
            try:
                self._main_job(f"soak-{self.number}-{cycle}", cycle)
                self.ledger.note(cycles=1)
            except Exception as error:  # whatever it was: the others go on, and the report says it
                text = f"{type(error).__name__}: {error}"
                self.ledger.complain(f"{self.name}, cycle {cycle}, {self.doing}: {text}")
        self.doing = "done"

    def _look_at(self, response: httpx.Response) -> None:
        status = response.status_code
        self.ledger.answered(status)
        kind = response.headers.get("content-type", "")
        where = f"{response.request.method} {response.request.url.path}"
        if status == 500 or (status >= 400 and "problem+json" not in kind):
            response.read()
            said = f"{self.doing}: {status} to {where}: {response.text[:300]}"
            self.ledger.complain(said)
        if status == 503 and "retry-after" not in response.headers:
            self.ledger.complain(f"{self.doing}: 503 to {where} without Retry-After")

    # --- the main job -------------------------------------------------------------------------

    def _main_job(self, name: str, cycle: int) -> None:
        files = self._push(name)
        self._label(name, files)
        train = self._train if cycle % 2 == self.number % 2 else self._count
        model = train(name)
        if model is not None:
            self._point(model)

    def _push(self, name: str) -> dict[str, str]:
        """Push version 1 with labels and splits, then version 2 with one file more."""
        self.doing = f"pushing {name}"
        folder = self.folder / name
        self._draw(folder)
        options = PushOptions(
            message="first",
            labels_from="folder",
            unlabelled=("unlabelled",),
            split={"test": 4, "seed": 7},
        )
        first = again(lambda: self.client.datasets.push(folder, name, options)).version
        digests = digests_of(folder)
        self._note_version(name, first, digests)
        self._draw_image(folder / "unlabelled" / "more.png")
        pushed = again(lambda: self.client.datasets.push(folder, name))
        digests = digests_of(folder)
        self._note_version(name, pushed.version, digests)
        return digests

    def _label(self, name: str, files: dict[str, str]) -> None:
        """Label what has no label, each file by its digest, and publish."""
        self.doing = f"labelling {name}"
        body = {
            "name": name,
            "dataset": f"{name}@v2",
            "labels": [{"id": n + 1, "name": label} for n, label in enumerate(LABELS)],
            "filter": {"labelled": False},
            "audit_percent": 0,
        }
        labelx = self.client.labelx
        task = str(self._post(f"projects/{self.client.project}/labelx/tasks/", body)["id"])
        self.ledger.note(tasks={task: name})
        until(lambda: self._moved(task, "start", {"active", "completed"}), "it is active")
        while again(lambda: labelx.get(task))["state"] == "active":
            held = again(lambda: labelx.my_work(task) or labelx.lease(task, 4))
            self._submit(task, held, files)
        self.doing = f"publishing {name}"
        until(lambda: self._moved(task, "publish", {"published"}), "it is published")
        found = again(lambda: labelx.get(task))["output_version"]
        version = again(lambda: self.client.datasets.version(f"{name}@{found['ref']}"))
        labels = {path: label_of(digest) for path, digest in files.items() if "unlab" in path}
        self.ledger.note(versions=VersionNote(name, found["ref"], version["commit"], files, labels))

    def _moved(self, task: str, action: str, states: set[str]) -> bool:
        """Ask for a step of a task, unless it is taken; return whether it is done."""
        state = self.client.labelx.get(task)["state"]
        if state not in states and state != "publishing":
            self.client.labelx.act(task, action)
        return state in states

    def _submit(self, task: str, held: list[dict[str, Any]], files: dict[str, str]) -> None:
        """Submit labels twice under the same keys: the second time nothing may change."""
        answers = [
            {
                "slot": slot["id"],
                "lease_no": slot["lease_no"],
                "idempotency_key": uuid.uuid4().hex,
                "label_id": LABELS.index(label_of(files[slot["path"]])) + 1,
            }
            for slot in held
        ]
        for _ in range(2 if answers else 0):
            results = again(lambda: self.client.labelx.submit(task, answers))
            for slot, answer, result in zip(held, answers, results, strict=True):
                if result["ok"]:
                    label = LABELS[int(answer["label_id"]) - 1]
                    said = (task, slot["path"], label)
                    self.ledger.note(labels={answer["idempotency_key"]: said})

    def _count(self, name: str) -> ModelNote | None:
        """Run a command that counts, resumes and leaves a model; register it by hand."""
        self.doing = f"counting over {name}"
        body = {
            "name": name,
            "command": ["python", "-c", COUNTING],
            "datasets": {"data": f"{name}@v3"},
            "resources": {"cpus": 1},
            "max_retries": MAX_RETRIES,
        }
        run = self._create_twice(body, LINES)
        if self._follow(run) != "succeeded":
            return None
        self.doing = f"registering {name}"
        base = f"projects/{self.client.project}/models/"
        self._post(base, {"name": name})
        said = {"run": run.id, "artifact_path": "model", "description": "soak"}
        made = self._post(f"{base}{name}/versions/", said)
        note = ModelNote(name, int(made["number"]), run.id)
        self.ledger.note(models=note)
        return note

    def _train(self, name: str) -> ModelNote | None:
        """Train by the platform's workflow, which registers; evaluate on the test split."""
        self.doing = f"training on {name}"
        parameters = {"dataset": f"{name}@v3", "epochs": 1, "register_model": name}
        body = self._workflow(f"{name} training", "image-classification", parameters)
        run = self._create_twice(body, 0)
        if self._follow(run) != "succeeded":
            return None
        self.doing = f"waiting for the model {name}"
        row = until(lambda: self._registered(name, run.id), "it is registered")
        note = ModelNote(name, int(row["number"]), run.id)
        self.ledger.note(models=note)
        self.doing = f"evaluating {name}"
        parameters = {
            "model_version": f"{name}@v{note.number}",
            "dataset": f"{name}@v3",
            "split": "test",
        }
        body = self._workflow(f"{name} evaluation", "evaluate-classifier", parameters)
        measured = self._create_twice(body, 0)
        if self._follow(measured) == "succeeded":
            self.ledger.note(evaluations={measured.id: note})
        return note

    def _workflow(self, name: str, workflow: str, parameters: dict[str, Any]) -> dict[str, Any]:
        more = {"resources": {"cpus": 1}, "max_retries": MAX_RETRIES}
        return {"name": name, "workflow": workflow, "parameters": parameters, **more}

    def _registered(self, name: str, run: str) -> dict[str, Any] | None:
        names = [model["name"] for model in self.client.models.list()]
        rows = list(self.client.models.versions(name)) if name in names else []
        return next((row for row in rows if row["run"]["id"] == run), None)

    def _point(self, note: ModelNote) -> None:
        self.doing = f"pointing at {note.model}"
        again(lambda: self.client.models.alias(note.model, "candidate", note.number))
        self.ledger.note(aliases={note.model: note.number})

    # --- asking -------------------------------------------------------------------------------

    def _create_twice(self, body: dict[str, Any], lines: int) -> RunNote:
        """Create a run by two requests at the same moment with one key: there is one run."""
        key, answers = uuid.uuid4().hex, list[str]()
        path = f"projects/{self.client.project}/runs/"

        def ask() -> None:
            answers.append(str(self._post(path, body, key)["id"]))

        other = threading.Thread(target=ask, daemon=True)
        other.start()
        ask()
        other.join(PATIENCE_S)
        if len(set(answers)) != 1 or len(answers) != 2:
            self.ledger.complain(f"{body['name']}: one key made the runs {answers}")
        note = RunNote(answers[0], body["name"], lines)
        self.ledger.note(runs={note.id: note})
        return note

    def _follow(self, run: RunNote) -> str:
        """Read the log while it grows, as a page does; return how the run ended."""

        def ended() -> str | None:
            found = self.client.runs.get(run.id)
            number = max((int(one["number"]) for one in found["attempts"]), default=0)
            if number and run.lines:
                self._see(run, number)
            return str(found["state"]) if found["state"] in TERMINAL else None

        run.state = until(ended, f"{run.name} ends")
        if run.state != "succeeded":
            found = again(lambda: self.client.runs.get(run.id))
            why = f"{found['failure_class']}: {found['failure_reason']}"
            self.ledger.complain(f"{run.name} ended as {run.state}: {why}")
        return run.state

    def _see(self, run: RunNote, attempt: int) -> None:
        lines = "".join(self.client.runs.log(run.id, attempt=attempt)).splitlines()
        if len(lines) > len(run.seen.get(attempt, [])):
            run.seen[attempt] = lines

    def _post(self, path: str, body: dict[str, Any], key: str | None = None) -> Any:
        """Create something: the same key until there is an answer."""
        same = key or uuid.uuid4().hex
        return again(lambda: self.client.http.post(path, body, key=same))

    # --- files --------------------------------------------------------------------------------

    def _draw(self, folder: Path) -> None:
        for number in range(LABELLED + UNLABELLED):
            name = LABELS[number % 2] if number < LABELLED else "unlabelled"
            self._draw_image(folder / name / f"{number:03d}.png")

    def _draw_image(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.frombytes("RGB", (28, 28), self._random.randbytes(28 * 28 * 3)).save(path)

    def _note_version(self, name: str, version: dict[str, Any], digests: dict[str, str]) -> None:
        note = VersionNote(name, version["ref"], version["commit"], digests)
        self.ledger.note(versions=note)


def digests_of(folder: Path) -> dict[str, str]:
    """Return the BLAKE3 of each file below a folder, by path."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): blake3(path.read_bytes()).hexdigest() for path in files}


def label_of(digest: str) -> str:
    """Return the label that these bytes get, always the same."""
    return LABELS[int(digest[0], 16) % 2]
