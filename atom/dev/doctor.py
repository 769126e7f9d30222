"""Looks at the machine of an installation: `python -m atom.dev doctor [--json]`.

Needs no running server: where none runs, it says why none may start.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator

import httpx

from atom.dev.applications import common_environment
from atom.dev.commands import running_state
from atom.dev.config import Installation
from atom.dev.ports import PortBusyError
from atom.dev.state import READY
from atom.settings.environment import BASE_DIR
from atom_sdk.doctor import checks, machine
from atom_sdk.doctor.checks import Check, error, ok, warning

_TIMEOUT_S = 10.0
_MIGRATE_TIMEOUT_S = 120.0
# How many missing migrations are named.
_NAMED = 5
_START = "Start it: make demo, or make up in the foreground"


def doctor(installation: Installation, *, as_json: bool) -> int:
    """Print how everything is and what to do; exit code 1 if anything is an error."""
    seen: list[Check] = []
    for check in ServerDoctor(installation).checks():
        seen.append(check)
        if not as_json:
            print("\n".join(checks.lines([check])), flush=True)
    if as_json:
        print(json.dumps(checks.as_json(seen), indent=2))
    return checks.exit_code(seen)


class ServerDoctor:
    """The checks of one installation."""

    def __init__(self, installation: Installation) -> None:
        """Look whether its launcher runs."""
        self._installation = installation
        self._env = installation.environment
        self._state = running_state(installation)

    def checks(self) -> Iterator[Check]:
        """Yield the result of each check."""
        looks = [
            machine.python,
            self._folders,
            self._portal,
            self._processes,
            self._ports,
            self._services,
            self._migrations,
            self._browser_uploads,
            self._programs,
            machine.mounts,
            machine.gpus,
        ]
        return checks.run_all(looks)

    def _folders(self) -> Iterator[Check]:
        home = self._installation.home
        if not home.exists():
            yield warning("ATOM_HOME", f"{home} does not exist yet.", _START)
            return
        runtimes = self._env.runtimes_dir or home / "runtimes"
        yield from machine.folder("ATOM_HOME", home, "ATOM_HOME")
        yield from machine.folder("environments of jobs", runtimes, "ATOM_RUNTIMES_DIR")

    def _portal(self) -> Iterator[Check]:
        index = self._env.atom_frontend_dist / "index.html"
        if index.exists():
            yield ok("portal", f"It is built in {index.parent}.")
        else:
            yield error(
                "portal", f"{index} is missing: the portal is not built.", "Run: make install"
            )

    def _processes(self) -> Iterator[Check]:
        if self._state is None:
            yield error("processes", f"Atom does not run in {self._installation.home}.", _START)
            return
        logs = self._installation.logs_dir
        for name, process in self._state.processes.items():
            again = f", started again {process.restarts} times" if process.restarts else ""
            if process.phase == READY and process.identity and process.identity.is_alive():
                yield ok(f"process {name}", f"It runs (pid {process.identity.pid}{again}).")
            else:
                action = f"See {logs / name}.log; the launcher starts it again by itself."
                yield error(f"process {name}", f"It is {process.phase}{again}.", action)

    def _ports(self) -> Iterator[Check]:
        if self._state is not None:
            return
        try:
            self._installation.require_free_ports()
        except PortBusyError as problem:
            stop = "Stop that process, or set"
            detail, _, action = str(problem).partition(stop)
            yield error("ports", detail.strip(), f"{stop}{action}" if action else _START)
        else:
            yield ok("ports", "All that Atom needs are free.")

    def _services(self) -> Iterator[Check]:
        """Ask the web process what of PostgreSQL, Valkey, object store and clock is well."""
        if self._state is None:
            return
        url = f"http://127.0.0.1:{self._env.atom_web_port}/readyz"
        try:
            parts = httpx.get(url, timeout=_TIMEOUT_S, trust_env=False).json()["parts"]
        except (httpx.HTTPError, ValueError, KeyError) as problem:
            action = f"See {self._installation.logs_dir / 'web.log'}."
            yield error("services", f"{url} does not answer: {problem!r}", action)
            return
        for name, part in parts.items():
            if part["ok"]:
                yield ok(name, f"It answers in {part['latency_ms']} ms.")
            else:
                detail = str(part.get("detail") or f"It does not answer: {part['error']}.")
                action = f"See {self._installation.logs_dir}; or correct its address in config.env."
                yield error(name, detail, action)

    def _migrations(self) -> Iterator[Check]:
        if self._state is None:
            return
        done = subprocess.run(
            [sys.executable, "manage.py", "migrate", "--check", "--plan", "--skip-checks"],
            cwd=BASE_DIR,
            env={**os.environ, **common_environment(self._installation)},
            capture_output=True,
            text=True,
            timeout=_MIGRATE_TIMEOUT_S,
            check=False,
        )
        if done.returncode == 0:
            yield ok("migrations", "The database has all of them.")
        else:
            yield error(
                "migrations", _unapplied(done), "Start Atom again: make down, then make demo"
            )

    def _browser_uploads(self) -> Iterator[Check]:
        """Ask the object store as a browser does before it uploads from the portal."""
        if self._state is None:
            return
        endpoint = self._endpoint()
        url = f"{endpoint.rstrip('/')}/{self._env.s3_bucket}/doctor"
        origin = self._installation.url
        asked = {"Origin": origin, "Access-Control-Request-Method": "PUT"}
        try:
            answer = httpx.request("OPTIONS", url, headers=asked, timeout=_TIMEOUT_S)
        except httpx.HTTPError as problem:
            action = "Set S3_PUBLIC_ENDPOINT_URL to an address that browsers reach."
            yield error("browser uploads", f"{endpoint} does not answer: {problem!r}", action)
            return
        if answer.headers.get("Access-Control-Allow-Origin") in {"*", origin}:
            yield ok("browser uploads", f"{endpoint} lets pages of {origin} upload.")
        else:
            action = f"Give the bucket a CORS rule: origin {origin}, methods GET, PUT and HEAD."
            yield error("browser uploads", f"{endpoint} refuses pages of {origin}.", action)

    def _programs(self) -> Iterator[Check]:
        if missing := [name for name in ("git",) if shutil.which(name) is None]:
            action = f"Install {', '.join(missing)}: code from repositories needs it."
            yield warning("programs", f"Missing: {', '.join(missing)}.", action)
        else:
            yield ok("programs", "git is installed.")

    def _endpoint(self) -> str:
        """Return where browsers reach the object store."""
        env = self._env
        own = f"http://127.0.0.1:{env.atom_s3_port}"
        return env.s3_public_endpoint_url or env.s3_endpoint_url or own


def _unapplied(plan: subprocess.CompletedProcess[str]) -> str:
    """Return a sentence with the migrations of a plan, or with the reason why there is none."""
    if plan.stderr:
        return f"The database cannot be asked: {plan.stderr.strip().splitlines()[-1]}"
    # A heading, then each migration with its operations indented below it.
    names = [line for line in plan.stdout.splitlines()[1:] if line and not line[0].isspace()]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"Not all are applied: {', '.join(names[:_NAMED])}{more}."
