"""Jobs that die, alone or with those who watch them: told in plain words, resumed, cleaned up."""

from __future__ import annotations

from typing import Any

import psutil
import pytest

from atom_sdk.client import Client
from tests.e2e import breaking
from tests.stack import Stack

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.slow,
    pytest.mark.xdist_group("faults"),
    pytest.mark.timeout(300),
]

# A first attempt goes on for ever; one that resumes takes ten steps and ends.
TRAINING = """
import time
from atom_sdk import run
checkpoint = run.resume()
first = int(checkpoint.file("state.txt").read_text()) if checkpoint else 0
assert checkpoint is None or checkpoint.step == first
step = first
while checkpoint is None or step < first + 10:
    print(f"line {step}", flush=True)
    run.log({"step": step}, step=step)
    step += 1
    if step % 20 == 0:
        run.save_checkpoint(step, {"state.txt": str(step).encode()})
    time.sleep(0.02)
"""
NOISY_CHILD = """
import subprocess, time
subprocess.Popen(["sleep", "600"], start_new_session=True)
print("line 0", flush=True)
time.sleep(600)
"""
TOO_LARGE = """
blocks = []
while True:
    blocks.append(b"x" * (8 << 20))
"""
FAILING = """
import sys
for n in range(30):
    print("line", n, flush=True)
print("the disk of the sample is missing", file=sys.stderr, flush=True)
sys.exit(3)
"""


def test_a_killed_runner_is_followed_by_an_attempt_from_the_last_checkpoint(
    whole_stack: Stack, survivor: Client
) -> None:
    run = start_training(survivor)
    first = breaking.attempts_of(survivor, run)[0]
    seen = breaking.numbers_in(breaking.log_of(survivor, run, attempt=1))
    breaking.runner_of(whole_stack, first).kill()
    expect_resumed(survivor, run, seen)
    breaking.await_no_process(whole_stack, survivor, run)


@pytest.mark.deep
def test_a_killed_supervisor_and_runner_are_noticed_and_a_person_can_go_on(
    whole_stack: Stack, survivor: Client
) -> None:
    """Supervisor and runner are gone, so no process reports; the command outlives them and is
    ended.
    """
    run = start_training(survivor, max_retries=0)
    first = breaking.attempts_of(survivor, run)[0]
    seen = breaking.numbers_in(breaking.log_of(survivor, run, attempt=1))
    supervisor = breaking.supervisor_of(whole_stack, first)
    runner = breaking.runner_of(whole_stack, first)
    supervisor.kill()
    runner.kill()

    failed = breaking.await_end(survivor, run, timeout_s=30)
    assert (failed["state"], failed["failure_class"]) == ("failed", "RUNNER_LOST")
    breaking.await_no_process(whole_stack, survivor, run)
    survivor.runs.retry(run)
    expect_resumed(survivor, run, seen)


@pytest.mark.deep
def test_a_killed_supervisor_alone_does_not_stop_its_job(
    whole_stack: Stack, survivor: Client
) -> None:
    """The runner reports by itself: there is nothing to start again."""
    script = (
        "import time\nfor n in range(120):\n    print('line', n, flush=True)\n    time.sleep(.03)"
    )
    run = breaking.start_script(survivor, "without supervisor", script)
    breaking.await_line(survivor, run, "line 20")
    breaking.supervisor_of(whole_stack, breaking.attempts_of(survivor, run)[0]).kill()
    assert breaking.await_end(survivor, run)["state"] == "succeeded"
    assert len(breaking.attempts_of(survivor, run)) == 1
    assert breaking.numbers_in(breaking.log_of(survivor, run)) == list(range(120))
    breaking.await_no_process(whole_stack, survivor, run)


def test_a_job_that_needs_too_much_memory_is_told_how_much_it_had(
    whole_stack: Stack, survivor: Client
) -> None:
    resources = {"cpus": 1, "memory_bytes": 256 << 20}
    failed = failed_run(whole_stack, survivor, TOO_LARGE, resources=resources)
    assert failed["failure_class"] == "OOM_HOST"
    assert "needed more memory than its limit of 0.2 GiB" in failed["failure_reason"]
    assert "more memory" in failed["suggestion"]


def test_a_command_that_does_not_exist_is_told_with_the_next_step(
    whole_stack: Stack, survivor: Client
) -> None:
    run = str(survivor.runs.create(name="missing", command=["no-such-program", "--now"])["id"])
    failed = breaking.await_end(survivor, run)
    assert (failed["state"], failed["failure_class"]) == ("failed", "COMMAND_NOT_FOUND")
    assert "'no-such-program' does not exist" in failed["failure_reason"]
    assert "add the package that brings it to the requirements" in failed["suggestion"]


def test_an_exit_code_is_told_with_the_last_lines(whole_stack: Stack, survivor: Client) -> None:
    failed = failed_run(whole_stack, survivor, FAILING)
    attempt = failed["attempts"][0]
    assert (failed["failure_class"], attempt["exit_code"]) == ("USER_CODE", 3)
    assert "exit code 3" in failed["failure_reason"]
    last_lines = attempt["evidence"]["tail"].splitlines()[-3:]
    assert last_lines == ["line 28", "line 29", "the disk of the sample is missing"]


def test_a_cancelled_run_leaves_no_process(whole_stack: Stack, survivor: Client) -> None:
    """Not even one that left its process group and session."""
    run = breaking.start_script(survivor, "to be cancelled", NOISY_CHILD)
    breaking.await_line(survivor, run, "line 0")
    attempt = breaking.attempts_of(survivor, run)[0]
    assert len(breaking.processes_of(whole_stack, attempt)) == 4
    survivor.runs.cancel(run)
    assert breaking.await_end(survivor, run)["state"] == "cancelled"
    breaking.await_no_process(whole_stack, survivor, run)


def test_no_process_of_any_ended_run_is_left(whole_stack: Stack, survivor: Client) -> None:
    for run in survivor.runs.list():
        breaking.await_end(survivor, run["id"])
    folder = f"{whole_stack.home}/attempts/"
    left = breaking.wait_for(lambda: ["none"] * (not processes_below(folder)), "all have ended", 20)
    assert left == ["none"]


def start_training(client: Client, **body: Any) -> str:
    """Start a run that goes on for ever; wait until it has a durable checkpoint."""
    run = breaking.start_script(client, "training", TRAINING, **body)
    breaking.wait_for(lambda: durable_steps(client, run), "a durable checkpoint")
    return run


def durable_steps(client: Client, run: str) -> list[int]:
    """Return the steps of the checkpoints of the first attempt that would survive anything."""
    return sorted(
        file["step"]
        for file in client.runs.files(run)
        if (file["kind"], file["state"], file["attempt"]) == ("checkpoint", "persisted", 1)
    )


def expect_resumed(client: Client, run: str, seen: list[int]) -> None:
    """A lost attempt and one that went on from its last durable step; both logs are whole."""
    assert breaking.await_end(client, run)["state"] == "succeeded"
    first, second = breaking.attempts_of(client, run)
    assert (first["state"], first["failure_class"]) == ("failed", "RUNNER_LOST")
    assert "process that supervised the job is gone" in first["failure_reason"]
    step = second["resumed_from_step"]
    assert step == durable_steps(client, run)[-1]
    kept = breaking.numbers_in(breaking.log_of(client, run, attempt=1))
    assert kept == list(range(len(kept)))
    assert kept[: len(seen)] == seen
    assert len(kept) >= step
    again = breaking.numbers_in(breaking.log_of(client, run, attempt=2))
    assert again == list(range(step, step + 10))


def failed_run(stack: Stack, client: Client, script: str, **body: Any) -> dict[str, Any]:
    """Run a script to its failure; nothing of it is left and it was tried once."""
    run = breaking.start_script(client, "failing", script, **body)
    failed = breaking.await_end(client, run)
    assert failed["state"] == "failed"
    assert len(failed["attempts"]) == 1
    breaking.await_no_process(stack, client, run)
    return failed


def processes_below(folder: str) -> list[int]:
    """Return the pids of processes that have a run's folder in their environment."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("ATOM_RUN_DIR", "").startswith(folder):
                found.append(process.pid)
        except psutil.Error:
            continue
    return found
