"""As root, each job has a user of its own that reaches its own data and nobody else's."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from atom.cache.backends.local.paths import job_views
from atom.cache.warming.actions.warming import request_warm
from atom.clusters.actions import ensure_local_node
from atom.datasets.models import Version
from atom.jobs import states
from atom.jobs.executors import local_executor
from atom.jobs.executors.local.node_cleanup import remove_old_attempts
from atom.jobs.models import Attempt, RunInput
from tests.datasets.pushing import Pusher, class_files
from tests.factories.accounts import make_member, make_project
from tests.jobs.live import log_of, make_script_run, reconcile_until, wait_until_gone

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("home", "live"),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can give jobs their own users"),
]

# Reads its own data, then looks for anything else below the folder that holds the cache.
SNOOP = """
import json, os, pathlib, time
mine = json.loads(pathlib.Path(os.environ['ATOM_DATASETS']).read_text())['d']
index, packs = pathlib.Path(mine['index_path']), pathlib.Path(mine['pack_dir'])
print('mine', len(index.read_bytes()) > 0, sum(p.stat().st_size for p in packs.iterdir()) > 0)
for path in packs.iterdir():
    try:
        path.open('ab')
    except PermissionError:
        print('cannot write packs')
home = pathlib.Path(os.environ['ATOM_RUN_DIR']).parents[1]
cache = index.parents[3]
targets = [cache, cache / 'attempts', home / 'attempts']
targets += [cache / name / part for name in OTHERS for part in ('packs', 'views', '')]
for target in targets:
    try:
        print('SEES', target.relative_to(home), os.listdir(target))
    except PermissionError:
        pass
for path in FILES:
    try:
        open(path, 'rb').read(1)
        print('READS', path)
    except (PermissionError, FileNotFoundError):
        pass
print('looked everywhere')
"""


@pytest.fixture
def home(settings: Any) -> Iterator[Path]:
    """An ATOM_HOME that every user can reach."""
    with tempfile.TemporaryDirectory(prefix="atom-home-") as folder:
        Path(folder).chmod(0o755)
        settings.ATOM_HOME = Path(folder)
        yield Path(folder)


def warm_dataset(slug: str) -> Pusher:
    """Return a project with `digits@v1`, warm on this machine with all its labels."""
    project = make_project(slug)
    client = Pusher(project, make_member(project, "researcher")).create()
    split = {"test": 3, "val": 0, "seed": 7, "stratify": True}
    client.push(class_files(), labels_from="folder", split=split)
    request_warm(version_of(client), ensure_local_node())
    return client


def version_of(pusher: Pusher) -> Version:
    rows = Version.objects.select_related("dataset__project")
    return rows.get(dataset__project=pusher.project, number=1)


def test_a_job_reaches_its_own_view_and_nothing_of_other_projects(
    home: Path, tmp_path: Path
) -> None:
    own, other = warm_dataset("own"), warm_dataset("other")
    secret = [str(path) for path in (home / "cache").rglob("*") if path.is_file()]
    assert [path for path in secret if str(other.project.pk) in path]
    projects = [str(own.project.pk), str(other.project.pk)]
    script = f"OTHERS, FILES = {projects!r}, {secret!r}\n{SNOOP}"
    run = make_script_run(tmp_path, script, project=own.project)
    version = version_of(own)
    RunInput.objects.create(run=run, alias="d", version=version, selector={"split": ["train"]})

    reconcile_until(run, states.SUCCEEDED)

    said = log_of(run)
    assert "looked everywhere" in said
    assert "mine True True" in said
    assert "cannot write packs" in said
    assert "SEES" not in said
    assert "READS" not in said


def test_what_a_job_saw_is_removed_when_it_is_over(home: Path, tmp_path: Path) -> None:
    own = warm_dataset("own")
    run = make_script_run(tmp_path, "print('done')", project=own.project)
    version = version_of(own)
    RunInput.objects.create(run=run, alias="d", version=version)
    reconcile_until(run, states.SUCCEEDED)
    attempt = Attempt.objects.get(run=run)
    assert job_views(attempt.pk).exists()
    assert wait_until_gone(local_executor(), attempt.pk, timeout_s=10)

    remove_old_attempts()

    assert not job_views(attempt.pk).exists()
    assert local_executor().folder(attempt.pk).exists()
    packs = list((home / "cache" / str(own.project.pk) / "packs").iterdir())
    assert [path.stat().st_nlink for path in packs] == [1]


def test_the_next_job_of_a_slot_cannot_open_what_the_one_before_left(
    home: Path, tmp_path: Path
) -> None:
    own, other = warm_dataset("own"), warm_dataset("other")
    before = make_script_run(tmp_path, "print('first')", project=other.project)
    RunInput.objects.create(run=before, alias="d", version=version_of(other))
    reconcile_until(before, states.SUCCEEDED)
    attempt = Attempt.objects.get(run=before)
    left = [str(local_executor().folder(attempt.pk)), str(job_views(attempt.pk))]
    assert all(Path(path).exists() for path in left)
    script = f"OTHERS, FILES = {left!r}, {[f'{left[0]}/job.json']!r}\n{SNOOP}"
    after = make_script_run(tmp_path, script, project=own.project)
    RunInput.objects.create(run=after, alias="d", version=version_of(own))

    reconcile_until(after, states.SUCCEEDED)

    said = log_of(after)
    assert "looked everywhere" in said
    assert "mine True True" in said
    assert "SEES" not in said
    assert "READS" not in said
