"""Asks the server for the attempt of this pod until it gives one or refuses."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .api import Api, ApiError, UnreachableError, backoff_s
from .config import ConfigError

SHORTEST_WAIT_S, LONGEST_WAIT_S = 1.0, 60.0
DEFAULT_GRACE_S = 60.0


class StoppedError(Exception):
    """The server does not want this pod any more; the message is the reason."""


class RefusedError(Exception):
    """The server refused this pod for good; the message is a sentence for people."""


@dataclass(frozen=True)
class PodConfig:
    """The pod as its environment describes it."""

    api_url: str
    placement: str
    rank: int
    pod: str
    pod_uid: str
    token_file: Path
    work_dir: Path
    # Where a built Python environment belongs.
    environment_dir: str
    # Seconds between SIGTERM and the SIGKILL of the kubelet.
    grace_s: float


@dataclass(frozen=True)
class Assignment:
    """The attempt that this pod runs: its runner token and its job."""

    token: str
    job: dict[str, Any]


def pod_config(env: Mapping[str, str]) -> PodConfig:
    """Read the environment. Raises ConfigError that names the variable."""
    return PodConfig(
        api_url=_required(env, "ATOM_API_URL"),
        placement=_required(env, "ATOM_PLACEMENT"),
        rank=int(_number(env, "ATOM_RANK", env.get("JOB_COMPLETION_INDEX") or "0")),
        pod=_required(env, "ATOM_POD_NAME"),
        pod_uid=_required(env, "ATOM_POD_UID"),
        token_file=Path(_required(env, "ATOM_POD_TOKEN_FILE")),
        work_dir=Path(_required(env, "ATOM_WORK_DIR")),
        environment_dir=env.get("ATOM_ENVIRONMENT_DIR") or "/atom/env",
        grace_s=_number(env, "ATOM_GRACE_S", str(DEFAULT_GRACE_S)),
    )


def join(config: PodConfig) -> Assignment:
    """Return the attempt of this pod. Raises StoppedError, RefusedError."""
    tries, last = 0, ""
    while True:
        try:
            answer = _ask(config)
        except ApiError as error:
            raise RefusedError(f"The server refused this pod: {error}") from error
        except (UnreachableError, OSError) as error:
            message = f"Waiting for the server: {error}"
            wait_s = max(backoff_s(tries), _asked_s(error))
            tries += 1
        else:
            if answer.get("answer") != "again":
                return _assignment(answer)
            message, wait_s, tries = str(answer.get("reason") or ""), _wait_s(answer), 0
        # The number of tries changes, the cause does not: one line for each cause.
        if message and message != last:
            say(message)
        last = message
        time.sleep(wait_s)


def say(sentence: str) -> None:
    """Write one line of the runner to the pod's log."""
    print(f"[atom] {sentence}", file=sys.stderr, flush=True)


def _ask(config: PodConfig) -> dict[str, Any]:
    # The kubelet renews the file, so read it at each try.
    api = Api(config.api_url, config.token_file.read_text("utf-8").strip())
    body = {
        "placement": config.placement,
        "rank": config.rank,
        "pod": config.pod,
        "pod_uid": config.pod_uid,
    }
    try:
        return api.post("join/", body, deadline_s=0.0)
    finally:
        api.disconnect()


def _assignment(answer: Mapping[str, Any]) -> Assignment:
    if answer.get("answer") == "stop":
        raise StoppedError(str(answer.get("reason") or "The server stopped this pod."))
    token, job = answer.get("token"), answer.get("job")
    if answer.get("answer") != "start" or not token or not isinstance(job, dict):
        raise RefusedError("The server gave an answer that this runner does not know.")
    return Assignment(str(token), job)


def _asked_s(error: Exception) -> float:
    """Return the seconds that a busy server asked to wait; many pods must not return at once."""
    return getattr(error, "wait_s", 0.0) * random.uniform(1.0, 1.1)


def _wait_s(answer: Mapping[str, Any]) -> float:
    try:
        asked_s = float(answer.get("after_s") or 0.0)
    except (TypeError, ValueError):
        asked_s = SHORTEST_WAIT_S
    bounded_s = min(LONGEST_WAIT_S, max(SHORTEST_WAIT_S, asked_s))
    return bounded_s * random.uniform(1.0, 1.1)


def _required(env: Mapping[str, str], name: str) -> str:
    value = env.get(name, "").strip()
    if not value:
        raise ConfigError(f"The environment variable {name} is not set.")
    return value


def _number(env: Mapping[str, str], name: str, default: str) -> float:
    text = env.get(name) or default
    try:
        return float(text)
    except ValueError:
        raise ConfigError(f"{name} must be a number, not {text!r}.") from None
