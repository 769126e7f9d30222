"""The configuration of a runner: the attempt's folder and its job."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MIB = 1024 * 1024


class ConfigError(Exception):
    """The attempt's folder is not usable; the message is a sentence for people."""


@dataclass(frozen=True)
class AttemptPaths:
    """Where things lie in an attempt's folder."""

    root: Path

    @property
    def job(self) -> Path:
        """The job as the server gave it."""
        return self.root / "job.json"

    @property
    def token(self) -> Path:
        """The runner token, mode 0600."""
        return self.root / "token"

    @property
    def supervisor(self) -> Path:
        """Adoption data."""
        return self.root / "supervisor.json"

    @property
    def spool(self) -> Path:
        """Logs that the server has not acknowledged."""
        return self.root / "spool"

    @property
    def work(self) -> Path:
        """The unpacked code."""
        return self.root / "work"

    @property
    def outputs(self) -> Path:
        """Files that are synced."""
        return self.root / "outputs"

    @property
    def checkpoints(self) -> Path:
        """One folder per checkpoint, `step-<n>`."""
        return self.outputs / "checkpoints"

    @property
    def inputs(self) -> Path:
        """Downloaded input files, such as a model to evaluate."""
        return self.root / "inputs"

    @property
    def resume(self) -> Path:
        """The checkpoint to go on from."""
        return self.root / "resume"

    @property
    def datasets(self) -> Path:
        """Indexes and packs of what the command streams, where no cache keeps them."""
        return self.root / "datasets"

    @property
    def metrics(self) -> Path:
        """Points that the SDK writes."""
        return self.root / "metrics.jsonl"

    @property
    def exit_report(self) -> Path:
        """The exit report, written before it is sent."""
        return self.root / "exit.json"

    @property
    def failure(self) -> Path:
        """The reason that the command itself gives for its end."""
        return self.root / "failure.json"

    def folders(self) -> tuple[Path, ...]:
        """Return the folders that the command or `run` write to."""
        return (
            self.spool,
            self.work,
            self.outputs,
            self.checkpoints,
            self.inputs,
            self.resume,
            self.datasets,
            self.root / "tmp",
            self.root / "home",
        )

    def make_folders(self) -> None:
        """Create every folder that a job needs."""
        for folder in self.folders():
            folder.mkdir(parents=True, exist_ok=True)


@dataclass(frozen=True)
class Limits:
    """How long and how much."""

    grace_s: float = 10.0
    spool_bytes: int = 64 * MIB
    report_s: float = 6 * 3600.0
    heartbeat_s: float = 2.0
    poll_s: float = 0.05
    # For processes that a command which succeeded has left behind.
    leftover_s: float = 10.0
    # In a pod: seconds between SIGTERM and the kubelet's SIGKILL. 0 outside of pods.
    pod_grace_s: float = 0.0


@dataclass(frozen=True)
class Job:
    """One attempt's job, from job.json."""

    api_url: str
    command: list[str]
    env: dict[str, str]
    # Variables too, whose values never get into the log.
    secrets: dict[str, str] = field(default_factory=dict)
    attempt: str = ""
    run: str = ""
    workdir: str = ""
    code: dict[str, Any] | None = None
    # A Python environment, packed or `in_image`, and the path that it is at.
    environment: dict[str, Any] | None = None
    environment_dir: str = ""
    inputs: list[dict[str, Any]] = field(default_factory=list)
    resume: dict[str, Any] | None = None
    datasets: list[dict[str, Any]] = field(default_factory=list)
    parameters: dict[str, Any] = field(default_factory=dict)
    # A run on several nodes has the table of all ranks here, and a file of their hosts.
    ranks: dict[str, Any] | None = None
    memory_bytes: int = 0
    timeout_s: float = 0.0
    uid: int | None = None
    gid: int | None = None
    inherit_env: bool = False
    limits: Limits = field(default_factory=Limits)


def parse_job(data: Mapping[str, Any]) -> Job:
    """Build a job from its JSON. Raises ConfigError when a needed key is missing."""
    api_url = str(data.get("api_url") or os.environ.get("ATOM_RUNNER_URL") or "")
    command = data.get("command") or []
    if not api_url or not command:
        raise ConfigError("The job needs `api_url` and `command`.")
    resources = data.get("resources") or {}
    uid = data.get("uid")
    return Job(
        api_url=api_url,
        command=[str(part) for part in command],
        env={str(name): str(value) for name, value in (data.get("env") or {}).items()},
        secrets={str(name): str(value) for name, value in (data.get("secrets") or {}).items()},
        attempt=_name(data.get("attempt")),
        run=_name(data.get("run")),
        workdir=str(data.get("workdir") or ""),
        code=data.get("code") or None,
        environment=data.get("environment") or None,
        environment_dir=str(data.get("environment_dir") or ""),
        inputs=list(data.get("inputs") or []),
        resume=data.get("resume") or None,
        datasets=list(data.get("datasets") or []),
        parameters=dict(data.get("parameters") or {}),
        ranks=data.get("ranks") or None,
        memory_bytes=int(resources.get("memory_bytes") or 0),
        timeout_s=float(data.get("timeout_s") or 0),
        uid=None if uid is None else int(uid),
        gid=int(data.get("gid") or uid) if uid is not None else None,
        inherit_env=bool(data.get("inherit_env")),
        limits=_limits(data.get("limits") or {}),
    )


def load_job(paths: AttemptPaths) -> Job:
    """Read job.json. Raises ConfigError."""
    try:
        return parse_job(json.loads(paths.job.read_text("utf-8")))
    except (OSError, ValueError) as error:
        raise ConfigError(f"Cannot read {paths.job}: {error}") from error


def write_json(path: Path, data: object, mode: int = 0o644) -> None:
    """Replace a JSON file in one step, so that no reader sees half of it."""
    write_bytes(path, json.dumps(data).encode(), mode)


def write_bytes(path: Path, content: bytes, mode: int = 0o644) -> None:
    """Replace a file in one step."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(str(temporary), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    os.replace(str(temporary), str(path))


def _name(value: Any) -> str:
    # The server may send the id alone or an object with its id.
    return str(value.get("id", "")) if isinstance(value, dict) else str(value or "")


def _limits(data: Mapping[str, Any]) -> Limits:
    known = {name: data[name] for name in Limits.__dataclass_fields__ if data.get(name)}
    return Limits(**known)
