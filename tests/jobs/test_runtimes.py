"""Runtimes: one per digest, built once, whole or not there."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from atom.jobs import states
from atom.jobs.actions import runtimes
from atom.jobs.models import Runtime
from atom.jobs.pipelines.runtime_build import BuildFailedError, RuntimeSpec, build, is_ready

pytestmark = pytest.mark.django_db


def test_the_same_requirements_are_the_same_runtime() -> None:
    first = runtimes.ensure_runtime("numpy\npillow>=11\n")
    assert runtimes.ensure_runtime("# for images\npillow>=11\n\nnumpy  \n") == first
    assert runtimes.ensure_runtime("numpy\n") != first


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


def spec(folder: Path, requirements: str) -> RuntimeSpec:
    nothing = folder / "atom_nothing"
    nothing.mkdir(exist_ok=True)
    (nothing / "pyproject.toml").write_text('[project]\nname = "atom-nothing"\nversion = "1"\n')
    return RuntimeSpec(folder / "env", runtimes.job_python(), requirements, nothing)


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
