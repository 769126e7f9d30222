"""Atom's own processes: web, gateway, worker, beat and the watcher of clusters."""

import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

from atom.core.processors import processor_count
from atom.dev.config import Installation
from atom.dev.ports import is_listening
from atom.dev.spec import ProcessSpec
from atom.settings.environment import BASE_DIR

# Within the launcher's budget for stopping.
GRACEFUL_SHUTDOWN_S = 2
WEB_DATABASE_CONNECTIONS = 8
# Less than the minute after which clients give up, so that they get the reason of the wait.
WEB_DATABASE_PATIENCE_S = 30
WEB_STORE_PATIENCE_S = 8
# Short: a lock that an interrupted task could not release falls with its connection.
WORKER_CONNECTION_KEPT_S = 60
# The most that start without a setting, since each takes about 300 MB.
_MOST_WEB_PROCESSES: Final = 4
_open = build_opener(ProxyHandler({})).open


def application_specs(installation: Installation) -> list[ProcessSpec]:
    """Return the processes in the order in which they start."""
    wanted = installation.environment.atom_web_processes
    web_processes = wanted or web_processes_for(processor_count())
    return [
        _gateway(installation),
        *(_web(installation, number, web_processes) for number in range(1, web_processes + 1)),
        _worker(installation),
        _beat(installation),
        *([_clusters(installation)] if installation.environment.atom_watch_clusters else []),
    ]


def web_processes_for(processors: int) -> int:
    """Return how many web processes suit a machine: PostgreSQL, Valkey and jobs need cores too."""
    return max(1, min(processors // 2, _MOST_WEB_PROCESSES))


def common_environment(installation: Installation) -> dict[str, str]:
    """Return what each of them gets; addresses and secrets are in `run/stack.env`."""
    env = installation.environment
    return {
        "ATOM_HOME": str(installation.home),
        "ATOM_WEB_PORT": str(env.atom_web_port),
        "ATOM_GATEWAY_PORT": str(env.atom_gateway_port),
        "ATOM_S3_GATEWAY_PORT": str(env.atom_s3_gateway_port),
        "DJANGO_SETTINGS_MODULE": "atom.settings.development",
        "PYTHONUNBUFFERED": "1",
        # Threads would otherwise each get an arena of 64 MB address space that is never given back.
        "MALLOC_ARENA_MAX": "2",
    }


def _web(installation: Installation, number: int, processes: int) -> ProcessSpec:
    env = installation.environment
    name = "web" if number == 1 else f"web-{number}"
    ready_file = installation.run_dir / f"{name}.ready"
    probe_url = f"http://127.0.0.1:{env.atom_web_port}/readyz"
    limits = {
        "ATOM_WEB_HOST": env.atom_web_host,
        "ATOM_WEB_PROCESSES": str(processes),
        "ATOM_DATABASE_POOL_SIZE": str(WEB_DATABASE_CONNECTIONS),
        "ATOM_DATABASE_PATIENCE_S": str(WEB_DATABASE_PATIENCE_S),
        "ATOM_STORE_PATIENCE_S": str(WEB_STORE_PATIENCE_S),
    }
    arguments = (str(number), str(GRACEFUL_SHUTDOWN_S), str(ready_file))
    return ProcessSpec(
        name=name,
        argv=(sys.executable, "-m", "atom.web", *arguments),
        cwd=BASE_DIR,
        env=common_environment(installation) | limits,
        prepare=_remove(ready_file),
        is_ready=lambda: ready_file.exists() and _answers(probe_url),
    )


def _gateway(installation: Installation) -> ProcessSpec:
    env = installation.environment
    return ProcessSpec(
        name="gateway",
        argv=(sys.executable, "-m", "atom.gateway", str(GRACEFUL_SHUTDOWN_S)),
        cwd=BASE_DIR,
        env=common_environment(installation) | {"ATOM_WEB_HOST": env.atom_web_host},
        # It listens on the S3 endpoint's port before.
        is_ready=lambda: is_listening(env.atom_gateway_port),
    )


def _worker(installation: Installation) -> ProcessSpec:
    concurrency = installation.environment.atom_worker_concurrency
    arguments = (
        *("worker", "--concurrency", str(concurrency), "-O", "fair"),
        *("--without-gossip", "--without-mingle", "--without-heartbeat"),
    )
    environment = {
        # SIGTERM then gives tasks a moment and puts unfinished ones back into the queue.
        "REMAP_SIGTERM": "SIGQUIT",
        # This is the only worker of the broker, so it takes back the tasks of a killed one at once.
        "ATOM_ONLY_WORKER": "1",
        "ATOM_DATABASE_KEPT_S": str(WORKER_CONNECTION_KEPT_S),
    }
    return _celery(installation, "worker", arguments, environment)


def _beat(installation: Installation) -> ProcessSpec:
    return _celery(installation, "beat", ("beat", "--pidfile="), {})


def _clusters(installation: Installation) -> ProcessSpec:
    ready_file = installation.run_dir / "clusters.ready"
    return ProcessSpec(
        name="clusters",
        argv=(sys.executable, "manage.py", "watch_clusters"),
        cwd=BASE_DIR,
        env=common_environment(installation) | {"ATOM_READY_FILE": str(ready_file)},
        prepare=_remove(ready_file),
        is_ready=ready_file.exists,
    )


def _celery(
    installation: Installation, name: str, arguments: tuple[str, ...], extra: dict[str, str]
) -> ProcessSpec:
    ready_file = installation.run_dir / f"{name}.ready"
    # The checks import every view; whoever changes the code runs them.
    environment = common_environment(installation) | extra | {"CELERY_SKIP_CHECKS": "1"}
    return ProcessSpec(
        name=name,
        argv=(sys.executable, "-m", "celery", "--quiet", "-A", "atom.celery", *arguments),
        cwd=BASE_DIR,
        env=environment | {"ATOM_READY_FILE": str(ready_file)},
        prepare=_remove(ready_file),
        is_ready=ready_file.exists,
        # The broker dies with the launcher too, and without it Celery's shutdown may not end.
        # Unfinished tasks stay unacknowledged: the next worker takes them back.
        death_signal=signal.SIGKILL,
    )


def _remove(path: Path) -> Callable[[], None]:
    return lambda: path.unlink(missing_ok=True)


def _answers(url: str) -> bool:
    """Whether the URL answers with a success."""
    try:
        with _open(url, timeout=5) as response:
            return bool(response.status == 200)
    except (URLError, OSError):
        return False
