"""Nothing acknowledged is lost or doubled when something dies or is away."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.sdk.runner.conftest import Attempt
from tests.sdk.runner.server import RunnerServer

Eventually = Callable[[Callable[[], Any]], Any]
COUNT_SLOWLY = "import time\nfor i in range(%d): print('line', i); time.sleep(%g)"


def lines_up_to(count: int) -> list[str]:
    return [f"line {number}" for number in range(count)]


def runner_below(supervisor_pid: int) -> int:
    """Return the pid of the supervisor's `run` process, 0 while there is none."""
    path = f"/proc/{supervisor_pid}/task/{supervisor_pid}/children"
    children = Path(path).read_text().split()
    return int(children[0]) if children else 0


def test_no_line_is_lost_or_doubled_while_the_server_is_away(
    attempt: Attempt, server: RunnerServer, eventually: Eventually
) -> None:
    attempt.python(COUNT_SLOWLY % (400, 0.005))
    eventually(lambda: len(server.state.log) > 100)
    server.stop()
    time.sleep(3)
    server.start()
    assert attempt.exit_report()["counters"]["log_complete"] is True
    assert server.lines() == lines_up_to(400)


@pytest.mark.parametrize("fault", ["status_500", "drop_before", "drop_after"])
def test_faults_of_single_requests_are_repeated(
    attempt: Attempt, server: RunnerServer, fault: str
) -> None:
    setattr(server.faults, fault, 12)
    attempt.python(
        "import os\nfor i in range(2000): print('line', i)\n"
        "open(os.environ['ATOM_METRICS_FILE'], 'a').write("
        '\'{"step": 1, "ts_ms": 1, "values": {"loss": 2}}\\n\')\n'
        "open(os.environ['ATOM_OUTPUT_DIR'] + '/a.txt', 'w').write('a')"
    )
    attempt.exit_report() if fault != "drop_after" else attempt.wait()
    assert server.lines() == lines_up_to(2000)
    assert [point for point in server.state.points if point[0] == "loss"] == [["loss", 1, 1, 2.0]]
    assert server.state.storage["out/a.txt"] == b"a"
    assert server.state.exits[-1]["reason"] == "exited"


def test_a_full_spool_makes_the_command_wait(
    attempt: Attempt, server: RunnerServer, eventually: Eventually
) -> None:
    server.stop()
    attempt.python(
        "import os\nfor i in range(60000): print('line', i)\n"
        "open(os.environ['ATOM_RUN_DIR'] + '/done', 'w').close()",
        limits={"spool_bytes": 100_000},
    )
    spool = attempt.root / "spool"
    eventually(lambda: sum(path.stat().st_size for path in spool.glob("log-*")) > 100_000)
    time.sleep(0.5)
    assert not (attempt.root / "done").exists()
    assert sum(path.stat().st_size for path in spool.glob("log-*")) < 500_000
    server.start()
    attempt.exit_report()
    assert server.lines() == lines_up_to(60000)


def test_a_killed_runner_is_drained_with_every_line(
    attempt: Attempt, server: RunnerServer, eventually: Eventually
) -> None:
    script = (
        "import os, time\nprint('pid', os.getpid())\n"
        "wrote = os.environ['ATOM_RUN_DIR'] + '/wrote'\n"
        "for i in range(100000): os.write(1, b'line %d\\n' % i); time.sleep(0.002);"
        # Whole or not at all: the kill may come at any moment.
        " open(wrote + '~', 'w').write(str(i)); os.replace(wrote + '~', wrote)"
    )
    attempt.python(script, verb="supervise")
    eventually(lambda: len(server.lines()) > 50)
    pid = int(server.lines()[0].split()[1])
    server.stop()  # so that the spool and the pipe hold something
    time.sleep(0.5)
    assert attempt.process
    os.kill(runner_below(attempt.process.pid), signal.SIGKILL)
    time.sleep(0.3)
    assert not os.path.exists(f"/proc/{pid}")
    server.start()
    report = attempt.exit_report()
    assert report["reason"] == "runner_lost"
    wrote = int((attempt.root / "wrote").read_text())
    lines = server.lines()[1:]
    assert lines == lines_up_to(len(lines))
    assert len(lines) >= wrote
    assert server.state.eof == len(server.state.log)
    assert report["evidence"]["tail"].endswith(lines[-1])


def test_outputs_and_metrics_of_a_killed_runner_are_drained(
    attempt: Attempt, server: RunnerServer, eventually: Eventually
) -> None:
    server.faults.status_500, server.faults.only = 10_000, "metrics"
    attempt.python(
        "import os, time\n"
        "f = open(os.environ['ATOM_METRICS_FILE'], 'a')\n"
        'for i in range(20): f.write(\'{"step": %d, "ts_ms": 1, "values": {"x": 1}}\\n\' % i)\n'
        "f.flush()\nopen(os.environ['ATOM_OUTPUT_DIR'] + '/r.txt', 'w').write('r')\n"
        "print('ready'); time.sleep(60)",
        verb="supervise",
    )
    eventually(lambda: server.lines() == ["ready"])
    time.sleep(0.7)
    assert attempt.process
    os.kill(runner_below(attempt.process.pid), signal.SIGKILL)
    server.faults.status_500 = 0
    attempt.exit_report()
    steps = [step for key, step, _, _ in server.state.points if key == "x"]
    assert steps == list(range(20))
    assert server.state.storage["out/r.txt"] == b"r"


def test_a_runner_killed_after_its_verdict_is_not_called_lost(
    attempt: Attempt, server: RunnerServer, eventually: Eventually
) -> None:
    server.faults.status_500, server.faults.only = 10_000, "exit"
    attempt.python("print('done')", verb="supervise")
    eventually((attempt.root / "exit.json").exists)
    assert attempt.process
    os.kill(runner_below(attempt.process.pid), signal.SIGKILL)
    server.faults.status_500 = 0
    report = attempt.exit_report()
    assert (report["reason"], report["exit_code"]) == ("exited", 0)
    assert server.lines() == ["done"]


def test_a_detached_supervisor_outlives_who_started_it(
    attempt: Attempt, server: RunnerServer, runner_pyz: Path
) -> None:
    attempt.start(["sh", "-c", "sleep 0.5; echo done"])
    attempt.clean_up()
    arguments = [sys.executable, str(runner_pyz), "supervise", str(attempt.root), "--detach"]
    subprocess.run(arguments, check=True, timeout=10)
    record = json.loads((attempt.root / "supervisor.json").read_text())
    stat = Path(f"/proc/{record['pid']}/stat").read_text().rsplit(")", 1)[1].split()
    assert int(stat[19]) == record["started_at_ticks"]
    assert record["uid"] == os.geteuid()
    assert server.state.exit_seen.wait(10)
    assert "done" in server.lines()


def test_sigterm_to_the_supervisor_reaches_the_command(
    attempt: Attempt, server: RunnerServer, eventually: Eventually
) -> None:
    attempt.python("import time; print('ready'); time.sleep(60)", verb="supervise")
    eventually(lambda: b"ready" in server.state.log)
    server.state.cancel = True
    assert attempt.process
    attempt.process.terminate()
    assert attempt.exit_report()["reason"] == "cancelled"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give a job a uid of its own")
def test_a_command_runs_under_its_own_uid_and_reads_no_other_token(
    attempt: Attempt, server: RunnerServer, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "token").write_text("secret")
    (other / "token").chmod(0o600)
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == 0 and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o011)
    script = (
        f"id -u; id -G; cat {other}/token; cat token ../token | head -c 7; echo;"
        "rm -f ../supervisor.json; mv ../job.json ../x; echo forged > ../supervisor.json"
    )
    attempt.pyz = copy_for_everyone(attempt.pyz)
    interpreter = "/usr/bin/python3"
    if not os.path.exists(interpreter):
        pytest.skip("needs an interpreter that every user can reach")
    start_with(interpreter, attempt, ["sh", "-c", script], uid=212345, gid=212345)
    attempt.wait()
    lines = server.lines()
    assert lines[:2] == ["212345", "212345"] or "212345" in lines
    assert "secret" not in lines
    assert "atomrun" in lines
    assert json.loads((attempt.root / "supervisor.json").read_text())["uid"] == 212345
    assert (attempt.root / "job.json").exists()


def copy_for_everyone(pyz: Path) -> Path:
    copy = Path(f"/tmp/{pyz.stem}-{os.getpid()}.pyz")
    copy.write_bytes(pyz.read_bytes())
    copy.chmod(0o755)
    return copy


def start_with(interpreter: str, attempt: Attempt, command: list[str], **job: Any) -> None:
    attempt.start(command, **job)
    attempt.clean_up()
    arguments = [interpreter, str(attempt.pyz), "supervise", str(attempt.root)]
    attempt.process = subprocess.Popen(arguments, start_new_session=True)


def test_a_million_lines_all_arrive(attempt: Attempt, server: RunnerServer) -> None:
    """The rate is printed, not asserted: other things run on the machine."""
    count = 1_000_000
    started_at = time.monotonic()
    attempt.start(["seq", "-f", "line %.0f of a training log with some text", "1", str(count)])
    attempt.wait(60)
    elapsed_s = time.monotonic() - started_at
    print(f"\n{count / elapsed_s:,.0f} lines/s, {server.state.log_requests} requests")
    log = bytes(server.state.log)
    assert log.count(b"\n") == count
    assert log.endswith(b"line 1000000 of a training log with some text\n")


def test_a_runner_whose_folder_is_gone_ends_itself(
    attempt: Attempt, server: RunnerServer, eventually: Eventually
) -> None:
    attempt.python("import time; print('ready'); time.sleep(60)", verb="supervise")
    eventually(lambda: server.lines() == ["ready"])
    server.stop()
    shutil.rmtree(attempt.root)
    attempt.wait()
    server.start()
