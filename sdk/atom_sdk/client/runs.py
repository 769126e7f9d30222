"""Runs and workflows from Python."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from typing import Any

from atom_sdk.client.errors import ApiError, NetworkError, NotAtomError, NotFoundError
from atom_sdk.client.metric_floats import comparison_with_floats, run_with_floats
from atom_sdk.client.transport.http import Http

TERMINAL = frozenset({"succeeded", "failed", "cancelled"})
_POLL_S = 0.7
# Proxies give up on a silent connection after a minute.
_ANSWER_HELD_S = 25.0
# A server that is being upgraded, or a network that is repaired, is back by then; the run goes on.
_MAX_AWAY_S = 300.0
_AWAY_STATUS = frozenset({429, 502, 503, 504})


class Runs:
    """Start, watch and stop runs of one project."""

    def __init__(self, http: Http, project: str) -> None:
        self._http = http
        self._project = project

    def create(self, **body: Any) -> dict[str, Any]:
        """Start a run: `workflow` and `parameters`, or `command` with `code_snapshot`.

        `cluster` names one of `cluster_choices`, or is "auto": Atom chooses the place. `image` is
        what a cluster starts; without a cluster the run goes to Atom's own machines. `accelerator`
        names a kind of GPUs that the cluster has; without it, any will do. `nodes` pods of a
        cluster run a command together, each with these resources; `launcher` (plain, torchrun,
        tensorflow, hostfile) says how they start it. `start` says
        when it starts relative to its data: `{"when": "data_there"}`, `{"when": "share", "percent":
        80}` or `{"when": "now"}`; without it, Atom chooses.
        Raises ApiError with a message per field when something does not fit.
        """
        return run_with_floats(self._http.post(f"projects/{self._project}/runs/", body))

    def preview(self, **body: Any) -> dict[str, Any]:
        """Return where a run would go and what it would wait for, without starting it."""
        found: dict[str, Any] = self._http.post(f"projects/{self._project}/runs/preview/", body)
        return found

    def cluster_choices(self, **resources: int | str) -> Sequence[dict[str, Any]]:
        """Return where a run with these resources could go, Atom's own machines first.

        `resources`: cpus, memory_bytes, gpus, accelerator, nodes (each with the others). `fits` is
        now, later or never; `reason` says why. `accelerators` are the kinds of each cluster with
        their total and what is free.
        """
        address = f"projects/{self._project}/cluster-choices/"
        found: dict[str, Any] = self._http.get(address, **resources)
        return [*found["results"]]

    def placements_preview(self, **body: Any) -> dict[str, Any]:
        """Return where Atom would place a run, with the cost of each place; starts nothing.

        `body`: cpus, memory_bytes, gpus, accelerator, nodes, image, inputs (references by alias),
        workflow or command, priority, start_percent. `candidates` are the places, best first; their
        `ways` tell when the run starts by each way to wait for its data. Times are in seconds,
        sizes in bytes; money is text in the named currency, None where it is unknown.
        """
        address = f"projects/{self._project}/placements/preview/"
        decision: dict[str, Any] = self._http.post(address, body)
        return decision

    def preflight(self, **body: Any) -> dict[str, Any]:
        """Return what a run would read, and what of it its workflow cannot use; starts nothing."""
        look: dict[str, Any] = self._http.post(f"projects/{self._project}/runs/preflight/", body)
        return look

    def list(self, **filters: Any) -> Iterator[dict[str, Any]]:
        """Yield runs, newest first.

        `search` is as in the portal, `lr>0.01 state:failed tag:baseline`; `sort` is `-metric.loss`,
        `param.lr`, `cpu_hours` …; `column` names parameters and metrics to return as `values`;
        others are state, q, tag, created_by, workflow, cluster.
        """
        return map(run_with_floats, self._http.pages(f"projects/{self._project}/runs/", **filters))

    def get(self, run: str) -> dict[str, Any]:
        """Return one run by id, or by its number in the project."""
        return run_with_floats(self._act("GET", run, ""))

    def cancel(self, run: str) -> dict[str, Any]:
        """Ask a run to stop."""
        return run_with_floats(self._act("POST", run, "cancel/"))

    def retry(self, run: str) -> dict[str, Any]:
        """Start another attempt, from the last durable checkpoint."""
        return run_with_floats(self._act("POST", run, "retry/"))

    def move(
        self, run: str, cluster: str, image: str | None = None, accelerator: str | None = None
    ) -> dict[str, Any]:
        """Let a run go on in another registered cluster, from its last checkpoint.

        `cluster` may be "auto": Atom chooses the best one. `image`, `accelerator`: None for the
        run's own; "" for any kind of accelerator.
        """
        given = {"image": image, "accelerator": accelerator}
        body = {"cluster": cluster, **{k: value for k, value in given.items() if value is not None}}
        return run_with_floats(self._http.post(f"runs/{self.resolve(run)}/move/", body))

    def clone(self, run: str, **changes: Any) -> dict[str, Any]:
        """Start a new run of the same code, data, parameters and resources.

        `changes`: name, parameters, resources, timeout_s, max_retries, tags, cluster, image,
        accelerator, nodes, launcher, start; of parameters and resources only those that are named
        change.
        """
        return run_with_floats(self._http.post(f"runs/{self.resolve(run)}/clone/", changes))

    def retention(self, days: int | None = None) -> dict[str, Any]:
        """Return the project's policy and what goes under it, or under `days` (0: for ever)."""
        address = f"projects/{self._project}/run-retention/"
        found: dict[str, Any] = self._http.get(address, days=days)
        return found

    def set_retention(self, days: int | None) -> dict[str, Any]:
        """Keep logs and outputs of ended runs for so many days, None for ever. Needs admin."""
        address = f"projects/{self._project}/run-retention/"
        found: dict[str, Any] = self._http.request("PUT", address, json={"days": days})
        return found

    def keep(self, run: str, days: int | None) -> dict[str, Any]:
        """Keep the logs and outputs of a run for so many days from now; None: as the project."""
        address = f"runs/{self.resolve(run)}/retention/"
        found: dict[str, Any] = self._http.request("PUT", address, json={"days": days})
        return found

    def share(self, run: str, **wanted: Any) -> dict[str, Any]:
        """Make a link that shows a run to people without an account; its `link` is returned once.

        `wanted`: days (1 to 90; 30), note (whom it is for), with_log.
        """
        made: dict[str, Any] = self._http.post(f"runs/{self.resolve(run)}/shares/", wanted)
        return made

    def shares(self, run: str) -> dict[str, Any]:
        """Return the links to a run that work, as `results`; `enabled` says whether any can."""
        return self._act("GET", run, "shares/")

    def end_share(self, run: str, share_id: str) -> None:
        """End a link at once."""
        self._http.delete(f"runs/{self.resolve(run)}/shares/{share_id}/")

    def describe(
        self, run: str, expected_revision: int | None = None, **said: Any
    ) -> dict[str, Any]:
        """Change `name`, `notes`, `tags` or `starred` of a run.

        With the `revision` of the run as it was read nobody's change is lost: ApiError with the
        code `run_changed` says that others were first. Without it, whatever is there is replaced.
        """
        run_id = self.resolve(run)
        if expected_revision is None:
            expected_revision = self.get(run_id)["revision"]
        body = {**said, "expected_revision": expected_revision}
        found: dict[str, Any] = self._http.request("PATCH", f"runs/{run_id}/", json=body)
        return found

    def tag(
        self, runs: Sequence[str], add: Sequence[str] = (), remove: Sequence[str] = ()
    ) -> dict[str, Any]:
        """Add tags to runs and take others away; tags that others add meanwhile stay."""
        return self._many(runs, "tags", add=[*add], remove=[*remove])

    def archive(self, runs: Sequence[str]) -> dict[str, Any]:
        """Take runs that are over out of the list; `refused` names those that are not."""
        return self._many(runs, "archive")

    def restore(self, runs: Sequence[str]) -> dict[str, Any]:
        """Bring archived runs, by their ids, back into the list."""
        return self._many(runs, "restore")

    def sums(self, **filters: Any) -> dict[str, Any]:
        """Return how many runs the filters of `list` leave, and their CPU and GPU hours."""
        found: dict[str, Any] = self._http.get(f"projects/{self._project}/runs/sums/", **filters)
        return found

    def queue(self) -> dict[str, Any]:
        """Return what waits, in which order and why, and what holds a machine."""
        found: dict[str, Any] = self._http.get(f"projects/{self._project}/queue/")
        return found

    def explain(self, run: str) -> dict[str, Any]:
        """Return why a run is not running, in plain words."""
        return self._act("GET", run, "explain/")

    def compare(self, runs: Sequence[str], value: str = "last") -> dict[str, Any]:
        """Return runs side by side: parameters, metrics, configuration, the best of each metric.

        `value` of a metric is `last`, `min` or `max`; it decides which run is best.
        """
        # Numbers and ids need no question of their own.
        names = [run if run.isdecimal() else self.resolve(run) for run in runs]
        address = f"projects/{self._project}/runs/compare/"
        return comparison_with_floats(self._http.get(address, runs=",".join(names), value=value))

    def advice(self, run: str) -> Sequence[dict[str, Any]]:
        """Return whether a run waited for its data, why, and what to do."""
        found: Sequence[dict[str, Any]] = self._http.get(f"runs/{self.resolve(run)}/advice/")
        return found

    def files(self, run: str) -> Iterator[dict[str, Any]]:
        """Yield the files that a run left, with addresses to download them."""
        return self._http.pages(f"runs/{self.resolve(run)}/files/")

    def wait(self, run: str, timeout_s: float | None = None) -> dict[str, Any]:
        """Return the run once it has ended. Raises TimeoutError.

        A server that has answered once may be away for five minutes.
        """
        run_id = self.resolve(run)
        allowed_s = float("inf") if timeout_s is None else timeout_s
        deadline = time.monotonic() + allowed_s
        state, away_at = "", -math.inf
        while True:
            left_s = max(0.0, deadline - time.monotonic())
            # The server holds the answer back: it comes when the run ends. 0 asks at once.
            asked_s = math.ceil(min(_ANSWER_HELD_S, left_s))
            try:
                found: dict[str, Any] = self._http.get(f"runs/{run_id}/wait/", timeout_s=asked_s)
            except (ApiError, NetworkError) as error:
                if not _may_be_back(error) or time.monotonic() > away_at:
                    raise
                time.sleep(_POLL_S)
            else:
                state, away_at = found["state"], time.monotonic() + _MAX_AWAY_S
                if state in TERMINAL:
                    return run_with_floats(found)
            if time.monotonic() >= deadline:
                raise TimeoutError(f"run {run} is still {state}")

    def log(
        self,
        run: str,
        follow: bool = False,
        offset: int = 0,
        attempt: int | None = None,
        rank: int | None = None,
    ) -> Iterator[str]:
        """Yield the log of a rank (0 unless named) as text, from byte `offset`.

        With `follow`, until the run has ended.
        """
        return (frame["text"] for frame in self.frames(run, follow, offset, attempt, rank=rank))

    def frames(
        self,
        run: str,
        follow: bool = False,
        offset: int = 0,
        attempt: int | None = None,
        stream: str | None = None,
        rank: int | None = None,
    ) -> Iterator[dict[str, Any]]:
        """Yield the pieces of the log: stream, byte_off, ts_ns and text of each.

        `stream` keeps `stdout` or `stderr`, `rank` is one of a run on several nodes, else 0. A
        piece may end within a line, never in a character.
        """
        run_id = self.resolve(run)
        asked = {"attempt": attempt, "rank": rank, "stream": stream, "limit_bytes": 1 << 20}
        while True:
            page = self._http.get(f"runs/{run_id}/logs/", **{"from": offset}, **asked)
            yield from page["frames"]
            moved, offset = page["next"] > offset, page["next"]
            if moved:
                continue
            if not follow or self._ended(run_id, page):
                return
            time.sleep(_POLL_S)

    def merged_lines(
        self, run: str, follow: bool = False, attempt: int | None = None
    ) -> Iterator[dict[str, Any]]:
        """Yield the lines of all ranks by their times: rank, ts_ns, stream and text of each.

        With `follow`, until the run has ended. Each line comes whole, without its newline.
        """
        run_id = self.resolve(run)
        after = ""
        while True:
            # Asked before: what the last ranks wrote is in the answer that comes after it.
            is_last = not follow or self.get(run_id)["state"] in TERMINAL
            page = self._http.get(f"runs/{run_id}/logs/merged/", attempt=attempt, after=after)
            yield from page["lines"]
            # A retry has logs of its own: these positions are none in them.
            attempt = page["attempt"] or attempt
            moved, after = page["next"] != after, page["next"]
            if page["eof"] or (is_last and not moved):
                return
            if not moved:
                time.sleep(_POLL_S)

    def search_log(self, run: str, **wanted: Any) -> Iterator[dict[str, Any]]:
        """Yield the lines of the log that match, with their numbers and neighbours.

        `wanted`: q with regex=1 (RE2) and case=1, or errors=1; attempt, rank, stream, context.
        """
        run_id = self.resolve(run)
        cursor = ""
        while True:
            page = self._http.get(f"runs/{run_id}/logs/search/", **wanted, cursor=cursor)
            yield from page["matches"]
            if page["complete"]:
                return
            cursor = page["next"]

    def resolve(self, run: str) -> str:
        """Return a run's id from an id, a number or a name. Raises NotFoundError."""
        if len(run) == 36:
            return run
        for found in self._named(run):
            if run in {str(found["number"]), found["name"]}:
                return str(found["id"])
        said = f"The project {self._project} has no run {run!r}."
        raise NotFoundError(said, "List them: atom ls; check the project, too.")

    def _named(self, run: str) -> Iterator[dict[str, Any]]:
        path = f"projects/{self._project}/runs/"
        yield from self._http.pages(path, q=run)
        # Archived ones are in no list unless it is asked for them.
        yield from self._http.pages(path, q=run, search="is:archived")

    def _many(self, runs: Sequence[str], what: str, **more: Any) -> dict[str, Any]:
        body = {"runs": [self.resolve(run) for run in runs], **more}
        found: dict[str, Any] = self._http.post(f"projects/{self._project}/runs/{what}/", body)
        return found

    def _ended(self, run_id: str, page: dict[str, Any]) -> bool:
        return bool(page["eof"]) or self.get(run_id)["state"] in TERMINAL

    def _act(self, method: str, run: str, action: str) -> dict[str, Any]:
        path = f"runs/{self.resolve(run)}/{action}"
        found: dict[str, Any] = self._http.get(path) if method == "GET" else self._http.post(path)
        return found


class Workflows:
    """The predefined jobs."""

    def __init__(self, http: Http, project: str) -> None:
        self._http = http
        self._project = project

    def list(self) -> list[dict[str, Any]]:
        """Return the workflows that the project may use."""
        return list(self._http.pages("workflows/", project=self._project))

    def get(self, slug: str) -> dict[str, Any]:
        """Return one workflow with its typed parameters."""
        found: dict[str, Any] = self._http.get(f"workflows/{slug}/", project=self._project)
        return found


def _may_be_back(error: ApiError | NetworkError) -> bool:
    """Return whether the same request may be answered a little later."""
    if isinstance(error, ApiError):
        return error.status in _AWAY_STATUS
    return not isinstance(error, NotAtomError)
