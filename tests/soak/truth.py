"""The stored state in the end, compared with acknowledged work: each sentence is a defect."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from atom_sdk.client import Client
from tests.e2e import breaking
from tests.soak.ledger import Ledger, RunNote, VersionNote
from tests.soak.receiver import Receiver
from tests.soak.streaming import Streams
from tests.stack import Stack

SETTLES_S = 90.0
# Nothing of these may be left once everybody has stopped: what is counted, and by which statement.
_LEFT = {
    "runs that have not ended": "SELECT count(*) FROM jobs_run WHERE state NOT IN "
    "('succeeded', 'failed', 'cancelled')",
    "attempts that have not ended": "SELECT count(*) FROM jobs_attempt WHERE state NOT IN "
    "('succeeded', 'failed', 'cancelled')",
    "placements whose Jobs are not removed": "SELECT count(*) FROM jobs_placement "
    "WHERE removed_at IS NULL",
    "reservations": "SELECT count(*) FROM clusters_reservation",
    "commits being made": "SELECT count(*) FROM datasets_commitrequest WHERE state IN "
    "('pending', 'building')",
    "packs being verified": "SELECT count(*) FROM datasets_upload WHERE state IN "
    "('uploaded', 'verifying')",
    "leased items of published tasks": "SELECT count(*) FROM labeling_workslot s JOIN "
    "labeling_labeltask t ON t.id = s.label_task_id WHERE s.state = 'leased' "
    "AND t.state = 'published'",
    "tasks being published": "SELECT count(*) FROM labeling_labeltask WHERE state = 'publishing'",
    "outputs that are not persisted": "SELECT count(*) FROM jobs_artifact a JOIN jobs_run r "
    "ON r.id = a.run_id WHERE a.state IN ('local', 'uploading') AND r.state = 'succeeded'",
    "events that nobody has taken": "SELECT count(*) FROM core_outboxevent WHERE taken_at IS NULL",
    "deliveries that wait": "SELECT count(*) FROM webhooks_delivery WHERE state = 'pending'",
    "requests half done": "SELECT count(*) FROM core_idempotencyrecord WHERE status IS NULL",
    "prepared transactions": "SELECT count(*) FROM pg_prepared_xacts",
}
# Rows that may exist once only: statements that find doubled ones.
_DOUBLED = {
    "versions of one commit": "SELECT dataset_id, commit FROM datasets_version "
    "GROUP BY 1, 2 HAVING count(*) > 1",
    "final labels of one item": "SELECT work_item_id FROM labeling_annotationrevision "
    "WHERE accepted GROUP BY 1 HAVING count(*) > 1",
    "model versions of one run": "SELECT run_id, artifact_path, model_id FROM "
    "models_registry_modelversion GROUP BY 1, 2, 3 HAVING count(*) > 1",
    "evaluations of one run": "SELECT run_id FROM models_registry_evaluation "
    "GROUP BY 1 HAVING count(*) > 1",
    "creations of one run in the audit log": "SELECT object_id FROM accounts_auditevent "
    "WHERE verb = 'run.created' GROUP BY 1 HAVING count(*) > 1",
    "deliveries of one event": "SELECT webhook_id, event_id FROM webhooks_delivery "
    "GROUP BY 1, 2 HAVING count(*) > 1",
}


@dataclass
class Truth:
    """Compares a ledger with the stack that it tells of."""

    stack: Stack
    client: Client
    ledger: Ledger
    receiver: Receiver
    streams: Streams

    def complaints(self) -> list[str]:
        """Return what is lost, doubled or left; empty if all is well."""
        checks: list[Callable[[], Iterator[str]]] = [
            self._left,
            self._doubled,
            self._versions,
            self._labels,
            self._runs,
            lambda: self.streams.complaints(self.stack),
            self._models,
            self._audit,
            self._events,
            self._processes,
            self._health,
        ]
        return [text for check in checks for text in check()]

    def _left(self) -> Iterator[str]:
        def counts() -> dict[str, int]:
            found = {what: int(self.stack.query(sql)[0][0]) for what, sql in _LEFT.items()}
            return {what: count for what, count in found.items() if count}

        try:
            breaking.wait_for(lambda: not counts(), "all has settled", SETTLES_S, 1.0)
        except AssertionError:
            for what, count in counts().items():
                yield f"left after {SETTLES_S:g} s: {count} {what}"

    def _doubled(self) -> Iterator[str]:
        for what, sql in _DOUBLED.items():
            if rows := self.stack.query(sql):
                yield f"doubled: {what}: {rows[:3]}"

    def _versions(self) -> Iterator[str]:
        """Every version that was answered is there with its bytes' digests, and no other."""
        noted: dict[str, list[VersionNote]] = {}
        for note in self.ledger.versions:
            noted.setdefault(note.dataset, []).append(note)
        for dataset, notes in noted.items():
            log = [(row["ref"], row["commit"]) for row in self.client.datasets.log(dataset)]
            said = [(note.ref, note.commit) for note in reversed(notes)]
            whole = len(notes) == 3
            if (whole and log != said) or not set(said) <= set(log):
                yield f"{dataset} has the versions {log}, acknowledged were {said}"
                continue
            yield from self._entries(notes[-1])

    def _entries(self, note: VersionNote) -> Iterator[str]:
        name = f"{note.dataset}@{note.ref}"
        found = {row["path"]: row for row in self.client.datasets.entries(name)}
        if {path: row["digest"] for path, row in found.items()} != note.digests:
            yield f"{name} has other files than were pushed"
        wrong = [path for path, label in note.labels.items() if found[path]["label"] != label]
        if wrong:
            yield f"{name} has other labels than were submitted: {wrong[:3]}"

    def _labels(self) -> Iterator[str]:
        """Each label that was taken is one revision; what was sent twice made no second one."""
        sql = "SELECT idempotency_key FROM labeling_annotationrevision WHERE accepted"
        stored = {str(key) for (key,) in self.stack.query(sql)}
        if lost := set(self.ledger.labels) - stored:
            yield f"{len(lost)} acknowledged labels are gone"
        items = Counter((task, path) for task, path, _ in self.ledger.labels.values())
        if twice := [item for item, count in items.items() if count > 1]:
            yield f"items that took two labels: {twice[:3]}"

    def _runs(self) -> Iterator[str]:
        rows = Counter(str(name) for (name,) in self.stack.query("SELECT name FROM jobs_run"))
        for run in self.ledger.runs.values():
            if rows[run.name] != 1:
                yield f"{rows[run.name]} runs are named {run.name}, one was created"
            if run.state and (now := self.client.runs.get(run.id)["state"]) != run.state:
                yield f"{run.name} had ended as {run.state} and is {now}"
            if run.lines and run.state == "succeeded":
                yield from self._log_and_points(run)

    def _log_and_points(self, run: RunNote) -> Iterator[str]:
        attempts = breaking.attempts_of(self.client, run.id)
        for attempt in attempts:
            number = int(attempt["number"])
            lines = breaking.log_of(self.client, run.id, attempt=number)
            said = run.seen.get(number, [])
            # The last line of what was seen may have been half of one.
            if lines[: len(said) - 1] != said[:-1]:
                yield f"{run.name}, attempt {number}: lines that were shown are gone"
            numbers = breaking.numbers_in(lines)
            first = int(attempt["resumed_from_step"] or 0)
            if numbers != list(range(first, first + len(numbers))):
                yield f"{run.name}, attempt {number}: the log is {numbers[:3]}…{numbers[-3:]}"
            points = breaking.stored_steps_of(self.stack, attempt, "n")
            if points != list(range(first, first + len(points))):
                yield f"{run.name}, attempt {number}: its points are {points[:3]}…{points[-3:]}"
        last = breaking.numbers_in(breaking.log_of(self.client, run.id))
        if last and last[-1] != run.lines - 1:
            yield f"{run.name}: the last attempt's log ends with line {last[-1]}"
        steps = breaking.steps_of(self.client, run.id, "n")
        if steps != list(range(run.lines)):
            yield f"{run.name}: {len(steps)} points of {run.lines}, {len(attempts)} attempts"
        states = {file["path"]: file["state"] for file in self.client.runs.files(run.id)}
        if states.get("model/weights.txt") != "persisted":
            yield f"{run.name}: its model is {states.get('model/weights.txt')}"

    def _models(self) -> Iterator[str]:
        for note in self.ledger.models:
            rows = [
                (row["number"], row["run"]["id"]) for row in self.client.models.versions(note.model)
            ]
            if rows != [(note.number, note.run)]:
                yield f"the model {note.model} has {rows}, registered was {note}"
        for run, note in self.ledger.evaluations.items():
            found = self.client.models.evaluations(note.model, note.number)
            if [
                row["run"]["id"] if isinstance(row["run"], dict) else row["run"] for row in found
            ] != [run]:
                yield f"{note.model} was evaluated by {run}, and has {len(found)} evaluations"
        for model, number in self.ledger.aliases.items():
            if self.client.models.version(model, "candidate")["number"] != number:
                yield f"the alias of {model} is not where it was put"

    def _audit(self) -> Iterator[str]:
        sql = "SELECT object_id FROM accounts_auditevent WHERE verb = 'run.created'"
        told = {str(found) for (found,) in self.stack.query(sql)}
        if missing := set(self.ledger.runs) - told:
            yield f"{len(missing)} runs are missing in the audit log"

    def _events(self) -> Iterator[str]:
        """The receiver was told of everything once, under one delivery."""
        if self.receiver.unverified:
            yield f"{self.receiver.unverified} requests to the receiver were not signed"
        if doubled := [one for one, ids in self.receiver.deliveries.items() if len(ids) > 1]:
            yield f"events with several deliveries: {doubled[:3]}"
        for kinds, key, expected in self._acknowledged():
            told = Counter(str(data[key]) for kind in kinds for data in self.receiver.told_of(kind))
            if wrong := {what: told[what] for what in expected if told[what] != 1}:
                yield f"{', '.join(kinds)} not told once: {wrong}"

    def _acknowledged(self) -> Iterator[tuple[tuple[str, ...], str, list[str]]]:
        """Yield kinds of events, what of their data names a thing, and the things."""
        ledger = self.ledger
        yield ("version.committed",), "commit", [note.commit for note in ledger.versions]
        ends = ("run.succeeded", "run.failed", "run.cancelled")
        yield ends, "run", [run.id for run in ledger.runs.values() if run.state]
        yield ("model_version.registered",), "run", [note.run for note in ledger.models]
        published = "SELECT id FROM labeling_labeltask WHERE state = 'published'"
        tasks = [str(pk) for (pk,) in self.stack.query(published)]
        yield ("label_task.published",), "task", tasks

    def _processes(self) -> Iterator[str]:
        """Every job is gone, and every part of the launcher's runs once."""
        below = f"{self.stack.home}/attempts/"
        if left := [words for words in self.stack.processes() if below in words]:
            yield f"processes of jobs are left: {left[:3]}"

    def _health(self) -> Iterator[str]:
        def well() -> bool:
            return bool(self.client.http.get("health/")["level"] != "problem")

        try:
            breaking.wait_for(well, "the health page has no problem", SETTLES_S, 1.0)
        except AssertionError:
            found = self.client.http.get("health/")["findings"]
            yield f"the health page says {[one for one in found if one['level'] == 'problem']}"
