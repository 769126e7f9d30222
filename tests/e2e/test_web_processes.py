"""Several web processes on one port, on the services of the test run."""

from __future__ import annotations

import os
import signal
from collections import Counter

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.e2e.breaking import wait_for
from tests.stack import Stack

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(600)]

# The kernel gives this many connections to one of two processes once in 2 ** 39 times.
CONNECTIONS = 40
# A guard against a hang: how long an answer takes on a busy machine is measured elsewhere.
ANSWER_S = 30
STATE = "/api/v1/state/"


def ask(stack: Stack) -> Counter[int]:
    """Return how often each status came, each over a connection of its own."""
    url = f"{stack.base_url}{STATE}"
    return Counter(httpx.get(url, timeout=ANSWER_S).status_code for _ in range(CONNECTIONS))


def counted(stack: Stack) -> set[float]:
    """Return what the processes that were asked say how often the state was read."""
    headers = {"Authorization": "Bearer scrape-me"}
    found = set()
    for _ in range(CONNECTIONS):
        text = httpx.get(f"{stack.base_url}/metrics", headers=headers).raise_for_status().text
        found.add(
            sum(
                sample.value
                for family in text_string_to_metric_families(text)
                for sample in family.samples
                if sample.name == "atom_http_request_seconds_count"
                and sample.labels["route"] == STATE.lstrip("/")
            )
        )
    return found


def test_all_answer_count_together_and_stand_in_for_each_other(stack_of_two: Stack) -> None:
    """On services of others, which are used and not started."""
    stack = stack_of_two
    expected = {"web", "web-2", "gateway", "worker", "beat", "clusters"}
    assert stack.process_names() == expected
    assert httpx.get(f"{stack.base_url}/readyz").status_code == 200
    (before,) = counted(stack)
    assert ask(stack) == {200: CONNECTIONS}
    # Whichever process is asked, it tells of both.
    assert counted(stack) == {before + CONNECTIONS}

    pid, restarts = stack.pid_of("web-2"), stack.restarts_of("web-2")
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: stack.restarts_of("web-2") == restarts + 1, "a restart")
    # Meanwhile the other has the port for itself.
    assert ask(stack) == {200: CONNECTIONS}
    wait_for(lambda: stack.is_up("web-2"), "the second process")
    assert ask(stack) == {200: CONNECTIONS}
    assert counted(stack) == {before + 3 * CONNECTIONS}
