import os
import signal
import subprocess
import sys
from pathlib import Path

from atom.dev.cleanup import end_processes, job_supervisors
from atom.dev.identity import ProcessIdentity, signal_group, wait_until_gone

# Ignores the polite signal, and has a child that does so too.
STUBBORN = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork():
    print("ready", flush=True)
time.sleep(60)
"""


def _spawn(code: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_a_reused_pid_is_another_process() -> None:
    me = ProcessIdentity.of(os.getpid())
    assert me is not None
    assert me.is_alive()
    assert not ProcessIdentity(me.pid, me.started_at_ticks - 1).is_alive()


def test_a_zombie_is_not_alive() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        identity = ProcessIdentity.of(process.pid)
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert identity is None or not identity.is_alive()


def test_processes_that_ignore_sigterm_are_killed_with_their_children() -> None:
    process = _spawn(STUBBORN)
    try:
        identity = ProcessIdentity.of(process.pid)
        assert identity is not None
        assert end_processes([identity]) == 1
        process.wait(5)
        assert wait_until_gone([identity], 0) == []
    finally:
        signal_group(process.pid, signal.SIGKILL)
        assert process.stdout is not None
        # End of file: the child, which holds the pipe too, is gone.
        assert process.stdout.read() == ""
        process.stdout.close()


def test_supervisors_are_found_by_pid_and_start_time(tmp_path: Path) -> None:
    me = ProcessIdentity.of(os.getpid())
    assert me is not None
    contents = {
        "alive": f'{{"pid": {me.pid}, "started_at_ticks": {me.started_at_ticks}}}',
        "reused": f'{{"pid": {me.pid}, "started_at_ticks": {me.started_at_ticks + 5}}}',
        "half": '{"pid": 1',
    }
    for name, text in contents.items():
        folder = tmp_path / "attempts" / name
        folder.mkdir(parents=True)
        (folder / "supervisor.json").write_text(text)
    assert job_supervisors(tmp_path) == [me]
