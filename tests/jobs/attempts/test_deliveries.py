"""How a run's data gets there: as packs, as a mounted folder, or as a stream."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pytest_django.live_server_helper import LiveServer
from rest_framework.test import APIClient

from atom.accounts.models import Project
from atom.cache.backends.local.paths import job_views, mounted_folder
from atom.cache.delivery.actions.mounts import attempts_with_mounts
from atom.cache.models import CacheRecord
from atom.cache.warming.actions.warming import request_warm
from atom.clusters.actions import beat_local_node, ensure_local_node
from atom.datasets.models import Source, Version
from atom.datasets.sources.actions import scans
from atom.gateway.asgi import media_server
from atom.jobs import states
from atom.jobs.attempts.actions.attempts import issue_token
from atom.jobs.attempts.actions.job_spec import job_of
from atom.jobs.deliveries import MOUNT, STREAM, variable_of, wrong_deliveries
from atom.jobs.executors import local_executor
from atom.jobs.executors.local.datasets import show_datasets
from atom.jobs.executors.local.node_cleanup import remove_old_attempts, unmount_ended
from atom.jobs.models import Attempt, Run, RunInput
from atom_sdk import run as sdk_run
from atom_sdk.errors import AtomError
from tests.datasets.buckets import Bucket
from tests.datasets.gateways import Gateway
from tests.datasets.pushing import Pusher, class_files
from tests.factories.accounts import make_member, make_project
from tests.factories.datasets import make_dataset, make_version
from tests.factories.jobs import make_attempt, make_run
from tests.jobs.live import log_of, make_script_run, reconcile_until, wait_until_gone

# A script that does not use Atom's SDK.
UNMODIFIED = """
import os
top = os.environ["ATOM_INPUT_MY_DIGITS"]
for folder, _, names in sorted(os.walk(top)):
    for name in sorted(names):
        data = open(os.path.join(folder, name), "rb").read()
        print(os.path.relpath(os.path.join(folder, name), top), len(data), data[:4])
try:
    open(os.path.join(top, "new"), "w")
    print("WRITES")
except OSError as error:
    print("cannot write")
"""


def test_the_variable_of_a_folder_is_made_of_the_alias() -> None:
    assert variable_of("my-data.v2") == "ATOM_INPUT_MY_DATA_V2"


def test_deliveries_that_cannot_be_had_are_named() -> None:
    wanted = {"a-b": MOUNT, "a.b": MOUNT, "dir": MOUNT, "none": STREAM, "fine": MOUNT}
    wrong = wrong_deliveries(wanted, ["a-b", "a.b", "dir", "fine"])
    assert sorted(wrong) == ["a.b", "dir", "none"]
    assert "ATOM_INPUT_A_B" in wrong["a.b"]
    streams = {"a-b": MOUNT, "a.b": STREAM, "dir": STREAM}
    assert wrong_deliveries(streams, streams) == {}


@pytest.mark.django_db
def test_a_run_says_how_each_of_its_inputs_gets_there() -> None:
    beat_local_node()
    project = make_project("vision")
    make_version(make_dataset(project, "digits"), labels={"a.png": None})
    api = APIClient()
    api.force_authenticate(make_member(project, "researcher"))
    body: dict[str, Any] = {"command": ["true"], "datasets": {"a": "digits@v1", "b": "digits@v1"}}

    def post(**more: Any) -> Any:
        return api.post("/api/v1/projects/vision/runs/", {**body, **more})

    created = post(deliveries={"b": "mount"})
    assert created.status_code == 201, created.json()
    shown = {one["alias"]: one for one in created.json()["datasets"]}
    assert (shown["a"]["delivery"], shown["b"]["delivery"]) == ("packs", "mount")
    assert shown["b"]["mounted_by"] == ""
    copy = api.post(f"/api/v1/runs/{created.json()['id']}/clone/").json()
    assert [one["delivery"] for one in copy["datasets"]] == ["packs", "mount"]
    assert "deliveries.c" in post(deliveries={"c": "mount"}).json()["errors"]
    assert "deliveries.a" in post(deliveries={"a": "nfs"}).json()["errors"]


@pytest.fixture
def home(settings: Any) -> Iterator[Path]:
    """An ATOM_HOME that every user can reach."""
    with tempfile.TemporaryDirectory(prefix="atom-home-") as folder:
        Path(folder).chmod(0o755)
        settings.ATOM_HOME = Path(folder)
        yield Path(folder)


def push_digits(project: Project) -> Version:
    client = Pusher(project, make_member(project, "researcher")).create()
    client.push(
        class_files(),
        labels_from="folder",
        split={"test": 3, "val": 0, "seed": 7, "stratify": True},
    )
    return Version.objects.select_related("dataset__project").get(dataset__project=project)


def give(run: Run, version: Version, delivery: str, alias: str = "my-digits") -> RunInput:
    return RunInput.objects.create(run=run, alias=alias, version=version, delivery=delivery)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("live")
def test_an_unmodified_script_reads_a_folder_that_goes_with_its_attempt(
    home: Path, tmp_path: Path
) -> None:
    version = push_digits(make_project())
    run = make_script_run(tmp_path, UNMODIFIED, project=version.dataset.project)
    one = give(run, version, MOUNT)

    reconcile_until(run, states.SUCCEEDED)

    said = log_of(run).splitlines()
    files = class_files()
    assert said[:-1] == [f"{path} {len(files[path])} {files[path][:4]!r}" for path in sorted(files)]
    one.refresh_from_db()
    if os.geteuid() == 0:
        assert said[-1] == "cannot write"
    ways = ["erofs", "loop", "hardlinks", "fuse"]
    assert [how for how, _ in one.mount_skipped] == ways[: ways.index(one.mounted_by)]
    [event] = run.events.filter(kind="mounted")
    assert event.data["how"] == one.mounted_by
    attempt = Attempt.objects.get(run=run)
    assert list(attempts_with_mounts()) == [attempt.pk]
    assert wait_until_gone(local_executor(), attempt.pk, timeout_s=10)

    unmount_ended()

    assert list(attempts_with_mounts()) == []
    assert not job_views(attempt.pk).exists()


# Prints the links that a job sees: each with its target, and the bytes behind those that lead to a
# file.
LINKS = """
import os
top = os.environ["ATOM_INPUT_MY_DIGITS"]
for folder, folders, names in sorted(os.walk(top)):
    for name in sorted(folders + names):
        path = os.path.join(folder, name)
        if os.path.islink(path):
            data = open(path, "rb").read() if os.path.isfile(path) else None
            print(os.path.relpath(path, top), os.readlink(path), data and len(data))
"""


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("live")
def test_a_job_sees_links_and_none_that_leads_out(home: Path, tmp_path: Path) -> None:
    project = make_project()
    first = sorted(class_files())[0]
    links = {
        "links/broken": "nothing",
        "links/file": f"../{first}",
        "links/host": "/etc/hostname",
        "links/top": "..",
        "links/up": "../../../../etc/hostname",
    }
    pusher = Pusher(project, make_member(project, "researcher")).create()
    pusher.push(class_files())
    rows = [{"op": "put", "path": path, "link": target} for path, target in links.items()]
    assert pusher.commit(rows, message="links")["state"] == "published"
    version = Version.objects.select_related("dataset__project").get(number=2)
    run = make_script_run(tmp_path, LINKS, project=project)
    give(run, version, MOUNT)

    reconcile_until(run, states.SUCCEEDED)

    assert log_of(run).splitlines() == [
        "links/broken nothing None",
        f"links/file ../{first} {len(class_files()[first])}",
        "links/top .. None",
    ]
    [event] = run.events.filter(kind="mounted")
    counts = (event.data["files"], event.data["links"], event.data["links_left_out"])
    assert counts == (len(class_files()), 3, 2)
    assert "Left out: 2 links out of the version." in event.text
    attempt = Attempt.objects.get(run=run)
    assert wait_until_gone(local_executor(), attempt.pk, timeout_s=10)
    unmount_ended()
    assert not job_views(attempt.pk).exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("live")
def test_a_job_gets_a_folder_of_links_alone(home: Path, tmp_path: Path) -> None:
    project = make_project()
    pusher = Pusher(project, make_member(project, "researcher")).create()
    links = {"a/broken": "nothing", "a/top": "..", "out": "/etc/hostname"}
    rows = [{"op": "put", "path": path, "link": target} for path, target in links.items()]
    assert pusher.commit(rows, message="links")["state"] == "published"
    version = Version.objects.select_related("dataset__project").get()
    run = make_script_run(tmp_path, LINKS, project=project)
    give(run, version, MOUNT)

    reconcile_until(run, states.SUCCEEDED)

    assert log_of(run).splitlines() == ["a/broken nothing None", "a/top .. None"]
    [event] = run.events.filter(kind="mounted")
    assert (event.data["files"], event.data["links"]) == (0, 2)
    assert CacheRecord.objects.get(version=version).state == "warm"
    attempt = Attempt.objects.get(run=run)
    assert wait_until_gone(local_executor(), attempt.pk, timeout_s=10)
    unmount_ended()
    assert not job_views(attempt.pk).exists()


@pytest.mark.django_db(transaction=True)
def test_a_folder_outlives_the_worker_that_mounted_it_and_not_a_killed_supervisor(
    home: Path,
) -> None:
    version = push_digits(make_project())
    attempt = make_attempt(make_run(version.dataset.project), states.SUBMITTED)
    give(attempt.run, version, MOUNT)
    request_warm(version, ensure_local_node())
    show_datasets(attempt, None)
    # The next worker, after the first died here.
    show_datasets(attempt, None)
    assert attempt.run.events.filter(kind="mounted").count() == 1

    unmount_ended()
    folder = mounted_folder(attempt.pk, "my-digits")
    assert len([path for path in folder.rglob("*") if path.is_file()]) == len(class_files())

    # No worker observes a supervisor of it, and the database has it as ended.
    Attempt.objects.filter(pk=attempt.pk).update(state=states.FAILED)
    busy = next(path for path in folder.rglob("*") if path.is_file()).open("rb")
    unmount_ended()
    busy.close()
    unmount_ended()
    assert not folder.exists()
    assert list(attempts_with_mounts()) == []


def streamed_input(version: Version, selector: dict[str, Any]) -> RunInput:
    """A run's input `d`."""
    one = give(make_run(version.dataset.project), version, STREAM, "d")
    RunInput.objects.filter(pk=one.pk).update(selector=selector)
    return one


def become(one: RunInput, home: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> Attempt:
    """Make this process the command of an attempt of the input's run."""
    attempt = make_attempt(one.run)
    show_datasets(attempt, None, local_executor().is_alive)
    folder = home / "attempts" / str(attempt.pk)
    folder.mkdir(parents=True)
    job = {**job_of(attempt), "api_url": url}
    (folder / "job.json").write_text(json.dumps(job))
    (folder / "token").write_text(issue_token(attempt))
    (folder / "datasets.json").write_text(json.dumps({"d": job["datasets"][0]}))
    monkeypatch.setenv("ATOM_RUN_DIR", str(folder))
    monkeypatch.setenv("ATOM_DATASETS", str(folder / "datasets.json"))
    return attempt


@pytest.mark.django_db(transaction=True)
def test_a_streaming_run_starts_cold_and_reads_what_it_needs_and_nothing_else(
    home: Path, live: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = push_digits(make_project())
    first = make_run(version.dataset.project, command=["true"])
    give(first, version, STREAM, "d")
    reconcile_until(first, states.SUCCEEDED)
    assert not CacheRecord.objects.exists()

    one = streamed_input(version, {"split": ["train"]})
    attempt = become(one, home, live, monkeypatch)

    samples = sdk_run.dataset("d")
    assert len(samples) == len(class_files()) - 3
    assert {one.path: bytes(one.data) for one in samples}.items() <= class_files().items()

    # The attempt fails, and its run tries again: what was fetched is not fetched once more.
    del samples
    Attempt.objects.filter(pk=attempt.pk).update(state=states.FAILED)
    Run.objects.filter(pk=one.run_id).update(state=states.RETRY_WAIT)
    remove_old_attempts()
    assert set(os.listdir(job_views(attempt.pk) / "d")) <= {"packs", "partial"}
    assert job_views(attempt.pk).stat().st_mode & 0o077 == 0, "nor may other runs read it"
    one.run.refresh_from_db()
    first_try, attempt = attempt, become(one, home, live, monkeypatch)
    RunInput.objects.filter(pk=one.pk).update(delivery="packs")
    assert len(list(sdk_run.dataset("d"))) == len(class_files()) - 3
    RunInput.objects.filter(pk=one.pk).update(delivery=STREAM)
    remove_old_attempts()
    assert not job_views(first_try.pk).exists()

    RunInput.objects.filter(pk=one.pk).update(delivery="packs")
    again = sdk_run.dataset("d")
    (job_views(attempt.pk) / "d" / "packs").rename(job_views(attempt.pk) / "d" / "gone")
    (job_views(attempt.pk) / "d" / "packs").mkdir()
    with pytest.raises(AtomError, match="streams no dataset called 'd'"):
        list(again)

    Attempt.objects.filter(pk=attempt.pk).update(state=states.FAILED)
    Run.objects.filter(pk=one.run_id).update(state=states.FAILED)
    remove_old_attempts()
    assert not job_views(attempt.pk).exists(), "the run is over"


@pytest.mark.django_db(transaction=True)
def test_a_streaming_run_reads_files_that_stay_at_their_source(
    home: Path, live_server: LiveServer, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.ATOM_SOURCE_ALLOW = ["127.0.0.0/8"]
    media_server.cache_clear()
    project = make_project()
    push_digits(project)
    pusher = Pusher(project, make_member(project, "researcher"))
    bucket = Bucket()
    # More than a block, so that it comes in two requests.
    far = {"far/0.bin": bytes(range(256)) * 5000, "far/empty": b"", "far/z.txt": b"zz"}
    bucket.put(far)
    address = f"/api/v1/projects/{project.slug}/sources/"
    pusher.post(address, bucket.body())
    source = Source.objects.get(project=project)
    scans.request_scan(source, source.created_by)
    version = Version.objects.select_related("dataset__project").get(
        dataset__project=project, number=2
    )
    gateway = Gateway(live_server.url)
    with gateway.served() as url:
        one = streamed_input(version, {"where": "path < 'far/y'"})
        attempt = become(one, home, url, monkeypatch)

        samples = sdk_run.dataset("d")

        found = {one.path: bytes(one.data) for one in samples}
        assert found == {**class_files(), "far/0.bin": far["far/0.bin"], "far/empty": b""}
        assert gateway.reads == 2
        again = {one.path: bytes(one.data) for one in sdk_run.dataset("d")}
        assert (again, gateway.reads) == (found, 2), "the second epoch reads the disk"
        # Only what was pushed: nobody knows what the others hash to.
        assert len(list((job_views(attempt.pk) / "d" / "packs").glob("*.tar"))) == 1

        api = APIClient()
        api.credentials(HTTP_AUTHORIZATION=f"Bearer {issue_token(attempt)}")
        asked = "/api/v1/runner/datasets/d/source-urls/"
        outside = api.post(asked, {"paths": ["far/z.txt"]}, format="json")
        assert outside.status_code == 404, "the selector leaves it out"
        assert api.post(asked, {"paths": []}, format="json").status_code == 400

        bucket.put({"far/0.bin": b"something else"})
        attempt = become(streamed_input(version, {}), home, url, monkeypatch)
        with pytest.raises(AtomError, match=r"far/0\.bin"):
            list(sdk_run.dataset("d"))
