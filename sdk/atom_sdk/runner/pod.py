"""`pod`: the runner as the process of a pod, which asks for its job before it starts anything.

The pod knows which placement it belongs to, and nothing else. It shows the token that its cluster
gave it; the server asks the cluster whether that is so, and answers with the job and a token of the
attempt. See `README.md`.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import processes
from .api import Api, ApiError, UnreachableError, backoff_s
from .config import AttemptPaths, ConfigError, load_job, write_json
from .pod_exits import NOT_ACCEPTED, NOT_OURS, TERMINATED, pod_exit
from .reporting import earlier_report
from .supervisor import Supervisor

LONGEST_WAIT_S = 60.0
_TRIES = 10


class StoppedError(Exception):
    """The pod does not start; `code` is its exit code."""

    def __init__(self, code: int, message: str) -> None:
        """Take the exit code and a sentence for people."""
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class Pod:
    """The environment of a pod's process."""

    api_url: str
    placement: str
    rank: int
    name: str
    uid: str
    token_file: Path
    work_dir: Path

    @classmethod
    def of(cls, env: Mapping[str, str]) -> Pod:
        """Read it. Raises ConfigError."""
        try:
            return cls(
                api_url=env["ATOM_API_URL"].rstrip("/"),
                placement=env["ATOM_PLACEMENT"],
                rank=int(env.get("ATOM_RANK") or env.get("JOB_COMPLETION_INDEX") or 0),
                name=env["ATOM_POD_NAME"],
                uid=env["ATOM_POD_UID"],
                token_file=Path(env["ATOM_POD_TOKEN_FILE"]),
                work_dir=Path(env["ATOM_WORK_DIR"]),
            )
        except (KeyError, ValueError) as error:
            raise ConfigError(f"The pod's environment is not complete: {error}") from error


def run_pod(env: Mapping[str, str]) -> int:
    """Join, run the attempt to its end and return the pod's exit code."""
    os.umask(0o077)
    terminated = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: terminated.set())
    try:
        pod = Pod.of(env)
        paths = _write_job(pod, _join(pod, terminated))
        job = load_job(paths)
    except ConfigError as error:
        _say(str(error))
        return NOT_ACCEPTED
    except StoppedError as error:
        _say(str(error))
        return error.code
    processes.become_subreaper()
    paths.make_folders()
    supervisor = Supervisor(job, paths)
    supervisor.terminated = terminated
    supervisor.supervise()
    return pod_exit(earlier_report(paths), terminated.is_set())


def _join(pod: Pod, terminated: threading.Event) -> dict[str, Any]:
    """Ask until the server answers with a job. Raises StoppedError."""
    body = {
        "placement": pod.placement,
        "rank": pod.rank,
        "pod": pod.name,
        "pod_uid": pod.uid,
    }
    tries, last = 0, ""
    while not terminated.is_set():
        try:
            # The token is renewed by the kubelet, so it is read each time.
            token = pod.token_file.read_text("utf-8").strip()
            answer = Api(pod.api_url, token).post("join/", body, deadline_s=0.0)
            said, wait_s = str(answer.get("reason") or ""), _wait_of(answer)
        except (UnreachableError, OSError) as error:
            answer, said, wait_s = {}, str(error), backoff_s(min(tries, _TRIES))
        except ApiError as error:
            raise StoppedError(NOT_ACCEPTED, f"This pod may not start: {error}") from error
        if answer.get("answer") == "start":
            return answer
        if answer.get("answer") == "stop":
            raise StoppedError(NOT_OURS, said or "The run is over.")
        if said != last:
            _say(f"Waiting to start: {said}")
        tries, last = tries + 1, said
        terminated.wait(wait_s)
    raise StoppedError(TERMINATED, "The pod was ended before its run began.")


def _wait_of(answer: dict[str, Any]) -> float:
    """Return how long to wait before asking again: not all pods at the same moment."""
    try:
        seconds = float(answer.get("after_s") or 1.0)
    except (TypeError, ValueError):
        seconds = 1.0
    return min(LONGEST_WAIT_S, max(1.0, seconds)) * random.uniform(0.75, 1.0)


def _write_job(pod: Pod, answer: dict[str, Any]) -> AttemptPaths:
    job, token = answer.get("job"), answer.get("token")
    if not isinstance(job, dict) or not isinstance(token, str) or not job.get("attempt"):
        raise ConfigError("The server's answer holds no job.")
    root = pod.work_dir / str(job["attempt"])
    root.mkdir(parents=True, exist_ok=True)
    paths = AttemptPaths(root)
    # The image gives the command its PATH; a cluster ends pods, so that is no loss of the runner.
    told = {**job, "api_url": pod.api_url, "inherit_env": True, "ended_as": "preempted"}
    write_json(paths.job, told, 0o600)
    descriptor = os.open(str(paths.token), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(token)
    return paths


def _say(text: str) -> None:
    print(f"[atom] {text}", file=sys.stderr, flush=True)
