"""A client of the running stack, and a shell that speaks to it as a user would."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from atom.settings.environment import BASE_DIR
from atom_sdk.client import Client
from tests.e2e.breaking import await_all, start_script
from tests.people import administrator, client_of, token_of
from tests.stack import Stack

Shell = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def token(stack: Stack) -> str:
    """An API token of the administrator, made as the portal makes it."""
    with httpx.Client(base_url=f"{stack.base_url}/api/v1", timeout=30) as http:
        http.get("/auth/session/")
        body = {"username": stack.admin_username, "password": stack.admin_password}
        headers = {"X-CSRFToken": http.cookies["csrftoken"], "Referer": stack.base_url}
        http.post("/auth/login/", json=body, headers=headers).raise_for_status()
        headers["X-CSRFToken"] = http.cookies["csrftoken"]
        answer = http.post("/tokens/", json={"name": "e2e", "scopes": ["admin"]}, headers=headers)
        answer.raise_for_status()
        return str(answer.json()["secret"])


@pytest.fixture
def atom(stack: Stack, token: str) -> Iterator[Client]:
    """The SDK's client, in the project `demo`."""
    with Client(stack.base_url, token, "demo") as client:
        yield client


@pytest.fixture
def environment(stack: Stack, token: str, tmp_path: Path) -> dict[str, str]:
    """The environment of a user's shell after `atom login`; caches in a folder of the test."""
    return {
        **os.environ,
        "ATOM_URL": stack.base_url,
        "ATOM_TOKEN": token,
        "ATOM_PROJECT": "demo",
        "ATOM_CACHE": str(tmp_path / "cache"),
        "ATOM_CONFIG": str(tmp_path / "config.json"),
    }


@pytest.fixture
def shell(environment: dict[str, str], tmp_path: Path) -> Shell:
    """Run `atom …` (or another program of the environment) in the test's folder."""

    def run(
        *arguments: str, program: str = "atom", check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [str(Path(sys.executable).parent / program), *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        if check and done.returncode != 0:
            raise AssertionError(
                f"{arguments} exited {done.returncode}:\n{done.stdout}{done.stderr}"
            )
        return done

    return run


def run_demo(stack: Stack) -> str:
    """Run the main job of `make demo` against the stack and return what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "demo"],
        cwd=BASE_DIR,
        env=stack.environment,
        capture_output=True,
        text=True,
        timeout=1500,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="session")
def stack_of_two() -> Iterator[Stack]:
    """A stack with two web processes on the services of the test run: the main job's."""
    running = Stack.create()
    (running.home / "logs").mkdir()
    running.use_services_of_the_run(f"two-{os.environ.get('PYTEST_XDIST_WORKER', 'gw0')}")
    running.external |= {"ATOM_METRICS_TOKEN": "scrape-me", "ATOM_WEB_PROCESSES": "2"}
    # Clusters of the tests are on this machine.
    running.external |= {"ATOM_WATCH_CLUSTERS": "1", "ATOM_CLUSTER_NETWORKS": "127.0.0.0/8"}
    try:
        running.start()
        yield running
        assert running.command("down").returncode == 0
        assert running.processes() == []
    finally:
        running.stop()
        running.remove()


@pytest.fixture(scope="session")
def demo_client(stack_of_two: Stack) -> Iterator[Client]:
    """The administrator's client of the main job's stack."""
    secret = token_of(stack_of_two, administrator(stack_of_two), scope="admin")
    with Client(stack_of_two.base_url, secret, "demo") as client:
        yield client


@pytest.fixture(scope="session")
def demo_output(stack_of_two: Stack) -> str:
    """The output of the main job at its first run in this stack."""
    return run_demo(stack_of_two)


@pytest.fixture(scope="session")
def broken_stack() -> Iterator[Stack]:
    """A stack whose processes the tests kill; a lost runner is noticed soon."""
    running = Stack.create()
    running.external = {"ATOM_RUNNER_LOST_AFTER_S": "4"}
    # Clusters of the tests are on this machine.
    running.external |= {"ATOM_WATCH_CLUSTERS": "1", "ATOM_CLUSTER_NETWORKS": "127.0.0.0/8"}
    try:
        running.start()
        yield running
        running.stop()
        if running.phase() == "ready":
            # A command has started this one in the place of ours.
            running.command("down")
        assert running.processes() == []
    finally:
        running.remove()


@pytest.fixture(scope="session")
def survivor(broken_stack: Stack) -> Iterator[Client]:
    """The administrator's client of the stack that breaks; the jobs' environment is on its way."""
    start_again(broken_stack)
    with client_of(broken_stack, administrator(broken_stack)) as client:
        start_script(client, "build the environment", "print('ready')")
        yield client


@pytest.fixture
def whole_stack(broken_stack: Stack, survivor: Client) -> Stack:
    """The stack that breaks, with everything running again."""
    start_again(broken_stack)
    return broken_stack


def start_again(stack: Stack) -> None:
    """Start a stack that a test may have stopped; wait until every process is ready."""
    if stack.phase() != "ready":
        stack.start()
    await_all(stack)


@pytest.fixture
def images(tmp_path: Path) -> Path:
    """Forty small real PNG files in two class folders and one without labels."""
    from PIL import Image

    folder = tmp_path / "images"
    for index in range(40):
        name = ("cats", "dogs", "unlabelled")[index % 3]
        (folder / name).mkdir(parents=True, exist_ok=True)
        color = (index * 6, 255 - index * 6, index)
        Image.new("RGB", (32, 24), color).save(folder / name / f"{index:03d}.png")
    return folder
