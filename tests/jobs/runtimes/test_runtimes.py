"""Runtimes: one per digest, built once, whole or not there."""

from __future__ import annotations

import fcntl
import os
import runpy
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import psutil
import pytest
from django.db import connection
from django.utils import timezone

from atom.clusters.actions import ensure_local_node, reserve
from atom.jobs import reconcile, states
from atom.jobs.models import Runtime
from atom.jobs.runtimes.actions import runtimes
from atom.jobs.runtimes.pipelines.builder import FIRST_UID, GID, builder_of, ensure_pip
from atom.jobs.runtimes.pipelines.interpreter import base_python
from atom.jobs.runtimes.pipelines.runtime_build import (
    MARKER,
    BuildFailedError,
    RuntimeSpec,
    build,
    is_ready,
)
from atom.jobs.runtimes.pipelines.sdk_wheel import sdk_digest
from tests.factories.jobs import make_attempt, make_run
from tests.jobs.packages import write_source, write_wheel

pytestmark = pytest.mark.django_db


def test_the_same_requirements_are_the_same_runtime() -> None:
    first = runtimes.ensure_runtime("numpy\npillow>=11\n")
    assert runtimes.ensure_runtime("# for images\npillow>=11\n\nnumpy  \n") == first
    assert runtimes.ensure_runtime("numpy\n") != first


def test_a_requirement_on_more_than_one_line_stays_one() -> None:
    pinned = """
    --only-binary :all:
    --no-binary numpy
    six==1.17.0 \\
        --hash=sha256:aa \\
        --hash=sha256:bb
        # via nothing
    numpy>=2 \\
        ; python_version > "3"  # pinned
    """
    runtime = runtimes.ensure_runtime(pinned)
    assert runtime.requirements.splitlines() == [
        "--only-binary :all:",
        "--no-binary numpy",
        'numpy>=2 ; python_version > "3"',
        "six==1.17.0 --hash=sha256:aa --hash=sha256:bb",
    ]
    assert runtimes.ensure_runtime(runtime.requirements) == runtime


def test_one_builder_claims_it_and_another_only_when_that_one_is_gone() -> None:
    runtime = Runtime.objects.create(digest="3" * 64, python="3.11")
    assert runtimes.claim(runtime.pk) is not None
    assert runtimes.claim(runtime.pk) is None
    Runtime.objects.update(claimed_until=timezone.now() - timedelta(seconds=1))
    assert runtimes.claim(runtime.pk) is not None


def test_a_failure_is_tried_again_when_it_is_asked_for_again() -> None:
    runtime = Runtime.objects.create(digest="4" * 64, python="3.11", state=states.FAILED)
    runtimes.request_build(runtime)
    runtime.refresh_from_db()
    assert runtime.state == states.PENDING


def spec(folder: Path, requirements: str, **fields: Any) -> RuntimeSpec:
    plain = {"path": folder / "env", "python": runtimes.job_python(), "pip": ensure_pip(folder)}
    wheel = write_wheel(folder)
    return RuntimeSpec(requirements=requirements, sdk_wheel=wheel, **{**plain, **fields})


@pytest.mark.slow
def test_a_requirement_that_does_not_exist_shows_pips_last_lines(tmp_path: Path) -> None:
    heard: list[str] = []
    wanted = spec(tmp_path, "atom-no-such-package-anywhere==9\n")
    with pytest.raises(BuildFailedError) as failed:
        build(wanted, heard.append)
    assert "atom-no-such-package-anywhere" in failed.value.tail
    assert heard
    assert not is_ready(wanted.path)


@pytest.mark.slow
def test_what_a_killed_builder_left_is_built_again(tmp_path: Path) -> None:
    wanted = spec(tmp_path, "")
    (wanted.path / "bin").mkdir(parents=True)
    (wanted.path / "bin" / "python").write_text("half")
    assert build(wanted, lambda _: None) > 0
    assert is_ready(wanted.path)
    assert (wanted.path / "bin" / "python").resolve().exists()


@pytest.mark.slow
def test_hashes_count_for_what_is_required_and_not_for_atoms_own_wheel(tmp_path: Path) -> None:
    digest = sha256(write_wheel(tmp_path, "pinned").read_bytes()).hexdigest()
    options = ("--no-index", "--find-links", str(tmp_path))
    wrong = spec(tmp_path, f"atom-pinned==1 --hash=sha256:{'0' * 64}\n", pip_options=options)
    with pytest.raises(BuildFailedError) as failed:
        build(wrong, lambda _: None)
    assert "DO NOT MATCH THE HASHES" in failed.value.tail

    right = spec(tmp_path, f"atom-pinned==1 --hash=sha256:{digest}\n", pip_options=options)
    assert build(right, lambda _: None) > 0
    found = {folder.name for folder in right.path.glob("lib/*/site-packages/*.dist-info")}
    assert found == {"atom_nothing-1.dist-info", "atom_pinned-1.dist-info"}


@pytest.mark.slow
def test_what_the_server_has_installed_is_not_taken_for_installed(tmp_path: Path) -> None:
    wanted = spec(tmp_path, "django\n", pip_options=("--no-index", "--no-deps"))
    with suppress(BuildFailedError):  # the usual end without an index
        build(wanted, lambda _: None)
        assert list(wanted.path.glob("lib/*/site-packages/django"))


# In the fast tier: `test_what_a_killed_builder_left_is_built_again`.
@pytest.mark.deep
@pytest.mark.slow
def test_a_build_that_hangs_is_stopped_with_all_its_processes(tmp_path: Path) -> None:
    marker = str(tmp_path / "pid")
    hang = f"open({marker!r}, 'w').write(str(os.getpid())); import time; time.sleep(300)"
    wanted = spec(tmp_path, write_source(tmp_path, [], hang), timeout_s=25.0)
    started_s = time.monotonic()
    with pytest.raises(BuildFailedError) as failed:
        build(wanted, lambda _: None)
    assert time.monotonic() - started_s < 60
    assert "took longer than 25 s and was stopped" in failed.value.tail
    assert not is_alive(int(Path(marker).read_text()))


@pytest.mark.slow
def test_what_a_build_says_is_text_that_can_be_kept(tmp_path: Path) -> None:
    """Each try would end where its last lines are noted, for ever."""
    wanted = spec(tmp_path, write_source(tmp_path, [], "print('a\\0b', flush=True); 1 / 0"))
    lines: list[str] = []
    with pytest.raises(BuildFailedError) as failed:
        build(wanted, lines.append)
    assert "\0" not in failed.value.tail + "".join(lines)
    assert "a\N{REPLACEMENT CHARACTER}b" in failed.value.tail


def is_alive(pid: int) -> bool:
    # Whoever inherits an orphan may not have reaped it yet.
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.fixture
def open_home() -> Iterator[Path]:
    """A folder that every user can reach, unlike those of pytest."""
    with tempfile.TemporaryDirectory(prefix="atom-home-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give builds their own users")
def test_as_root_what_requirements_run_has_no_rights_and_cannot_change_the_result(
    open_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATOM_SECRET_KEY", "never-shown")
    private = open_home / "private"
    private.mkdir(mode=0o700)
    runtime = open_home / "runtimes" / ("ab" * 16)
    builder = builder_of(runtime)
    stay = (
        "subprocess.Popen(['sleep', '300'], start_new_session=True, stdin=-3, stdout=-3, stderr=-3)"
    )
    wanted = spec(
        open_home,
        write_source(open_home, [str(private), str(open_home)], stay),
        path=runtime,
        python=base_python(open_home, isolated=True),
        pip=ensure_pip(open_home),
        builder=builder,
    )

    assert build(wanted, lambda _: None) > 0

    (module,) = runtime.glob("lib/python3*/site-packages/atom_who.py")
    seen: dict[str, Any] = runpy.run_path(str(module))["SEEN"]
    assert seen["uid"] == builder.uid >= FIRST_UID
    assert set(seen["groups"]) <= {GID}
    assert seen["readable"] == [str(open_home)]
    assert seen["secrets"] == []
    owners = {path.lstat().st_uid for path in (runtime, *runtime.rglob("*"))}
    assert owners == {0}
    assert not [path for path in runtime.rglob("*") if path.is_file() and path.stat().st_mode & 2]
    processes = psutil.process_iter(["pid", "uids"])
    left = [one.info["pid"] for one in processes if one.info["uids"].real == builder.uid]
    assert not [pid for pid in left if is_alive(pid)]
    assert not builder.home.exists()


@pytest.mark.django_db(transaction=True)
def test_a_build_is_told_in_the_timeline_and_its_failure_ends_the_run(
    settings: Any, tmp_path: Path
) -> None:
    settings.ATOM_HOME = tmp_path
    put_wheel(tmp_path)
    settings.ATOM_RUNTIME_PIP_OPTIONS = "--no-such-option-of-pip"
    runtime = runtimes.ensure_runtime("numpy\n")
    run = make_run(runtime=runtime, state=states.WARMING)
    attempt = make_attempt(run, states.WARMING)
    reserve(ensure_local_node().pk, attempt.pk, cpus=1, memory_bytes=1, gpus=0)

    runtimes.build(runtime.pk)
    reconcile.advance(run.pk)

    run.refresh_from_db()
    runtime.refresh_from_db()
    assert (runtime.state, run.failure_class) == (states.FAILED, "RUNTIME_BUILD")
    assert "no such option: --no-such-option-of-pip" in run.failure_reason
    assert run.suggestion
    said = list(run.events.filter(kind="runtime").values_list("text", flat=True))
    assert said == ["Its Python environment is being built; later runs start at once."]
    assert "no such option" in run.attempts.get().evidence["tail"]


@pytest.mark.django_db(transaction=True)
def test_another_servers_environment_is_awaited_and_then_used(
    settings: Any, tmp_path: Path
) -> None:
    settings.ATOM_HOME, settings.ATOM_RUNTIMES_DIR = tmp_path / "home", tmp_path / "shared"
    settings.ATOM_HOME.mkdir()
    put_wheel(settings.ATOM_RUNTIMES_DIR)
    runtime = runtimes.ensure_runtime("numpy\n")
    run = make_run(runtime=runtime, state=states.WARMING)
    path = runtimes.path_of(runtime)
    assert path.parent == tmp_path / "shared"
    path.mkdir()
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        runtimes.build(runtime.pk)
        runtime.refresh_from_db()
        run.refresh_from_db()
        assert runtime.state == states.BUILDING
        assert runtime.claimed_until is not None
        assert runtime.claimed_until < timezone.now() + timedelta(seconds=10)
        assert run.progress_text == "Another server is building the same environment."
        write_environment(path)

    Runtime.objects.update(claimed_until=timezone.now() - timedelta(seconds=1))
    runtimes.nudge_build(runtime)
    runtimes.build(runtime.pk)
    runtime.refresh_from_db()
    assert (runtime.state, runtime.path) == (states.READY, str(path))
    assert runtime.size_bytes > 0
    # Nothing was built here, so the timeline says nothing of it.
    assert not run.events.exists()


def test_an_environment_whose_python_is_gone_is_not_ready(tmp_path: Path) -> None:
    path = tmp_path / "env"
    python = tmp_path / "python"
    python.touch()
    write_environment(path, python)
    assert is_ready(path)
    python.unlink()
    assert not is_ready(path)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives jobs users of their own")
def test_a_folder_that_the_users_of_jobs_cannot_enter_is_told_with_what_to_do(
    settings: Any, open_home: Path, tmp_path: Path
) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    settings.ATOM_HOME, settings.ATOM_RUNTIMES_DIR = open_home, closed
    runtime = runtimes.ensure_runtime("numpy\n")
    runtimes.build(runtime.pk)
    runtime.refresh_from_db()
    assert runtime.state == states.FAILED
    assert f"The users of jobs cannot enter {closed}" in runtime.log_tail
    assert "ATOM_RUNTIMES_DIR" in runtime.log_tail


def put_wheel(home: Path) -> None:
    """Lay a wheel that stands for the SDK where the SDK's own is found: to build that takes 3 s."""
    folder = home / "wheels" / sdk_digest()[:16]
    folder.mkdir(parents=True)
    write_wheel(folder)


def write_environment(path: Path, python: Path = Path(sys.executable)) -> None:
    """Write what looks like a complete environment."""
    (path / "bin").mkdir(parents=True)
    (path / "bin" / "python").symlink_to(python)
    (path / MARKER).touch()


@pytest.mark.slow
def test_a_builder_that_is_silent_but_alive_keeps_its_claim(
    transactional_db: None, open_home: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runtimes, "_RENEW_EVERY_S", 0.05)
    settings.ATOM_HOME = open_home
    put_wheel(open_home)
    settings.ATOM_RUNTIME_PIP_OPTIONS = "--no-index --no-deps"
    signs = open_home / "signs"
    signs.mkdir()
    signs.chmod(0o777)
    silence = (
        f"import time; open({str(signs / 'silent')!r}, 'w'); "
        f"[time.sleep(0.05) for _ in range(1200) if not os.path.exists({str(signs / 'go')!r})]"
    )
    runtime = runtimes.ensure_runtime(write_source(open_home, [], silence))
    builder = threading.Thread(target=build_in_thread, args=(runtime,))
    builder.start()
    try:
        wait_for((signs / "silent").exists)
        Runtime.objects.update(claimed_until=timezone.now() - timedelta(seconds=1))
        time.sleep(0.5)
        assert runtimes.claim(runtime.pk) is None
    finally:
        (signs / "go").touch()
        builder.join()
    runtime.refresh_from_db()
    assert runtime.state == states.READY, runtime.log_tail


def build_in_thread(runtime: Runtime) -> None:
    try:
        runtimes.build(runtime.pk)
    finally:
        connection.close()


def wait_for(done: Callable[[], bool], timeout_s: float = 60) -> None:
    deadline = time.monotonic() + timeout_s
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.05)
