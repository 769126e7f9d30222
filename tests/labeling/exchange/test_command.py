"""`atom labels import`: reads here, shows losses, publishes once, and goes on after a kill."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from blake3 import blake3
from click.testing import CliRunner

from atom.accounts.actions import create_token
from atom.celery import app
from atom.core import storage
from atom.core.stored_failures import stored_failure
from atom.datasets.models import Dataset, Pack, Upload, Version
from atom.labeling.actions.transfer_runs import run_transfer
from atom.labeling.models import LabelTransfer
from atom_sdk.cli.context import Context
from atom_sdk.cli.main import cli
from atom_sdk.client import Client, label_imports
from tests.factories.accounts import make_member, make_project
from tests.factories.datasets import make_dataset, make_version
from tests.labeling.exchange.transferring import PATHS, box, coco, drawn_on

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    path = tmp_path / "标注.json"
    path.write_bytes(coco(box(1), box(2, 3, 9), names=("train/a.png", "b.png", "x.png", PATHS[3])))
    return path


@pytest.fixture
def run(live_server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run a command as a researcher of the project `vision`; returns its JSON."""
    monkeypatch.setenv("ATOM_CACHE", str(tmp_path / "cache"))
    project = make_project("vision")
    make_version(make_dataset(project, "street"), dict.fromkeys(PATHS))
    # The pack of the factory's pictures, whose bytes are not read here.
    digest = blake3(b"pack").hexdigest()
    Pack.objects.create(project=project, digest=digest, size_bytes=1, state="verified")
    secret = create_token(make_member(project, "researcher"), "cli", ["admin"]).secret

    def run(*words: str) -> Any:
        context = Context()
        with Client(live_server.url, secret, "vision") as client:
            context._client = client
            done = CliRunner().invoke(cli, ["--json", *words], obj=context, standalone_mode=False)
        if done.exception is not None:
            raise done.exception
        return json.loads(done.stdout)

    return run


def test_a_dry_run_shows_what_the_import_brings(run: Any, labels: Path) -> None:
    words = ("labels", "import", "street", str(labels))
    before = run(*words, "--dry-run")
    assert LabelTransfer.objects.count() == 0
    assert before["read"]["objects"] == {"box": 2}
    assert before["matches"]["unmatched"] == [{"name": "x.png", "reason": "missing"}]
    done = run(*words)
    assert (done["state"], done["read"]["read"]) == ("done", before["read"])
    assert done["outcome"] == {"version": "v2", "unchanged": False}
    documents = drawn_on(Dataset.objects.get(name="street"))
    assert {path: len(it.objects) for path, it in documents.items()} == {
        "train/a.png": 1,
        "train/b.png": 0,
        PATHS[3]: 1,
    }


def test_an_import_that_was_cut_off_goes_on_and_makes_one_version(
    run: Any, labels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut_off(*_: Any) -> Any:
        raise ConnectionAbortedError

    words = ("labels", "import", "street", str(labels), "--existing", "add")
    with monkeypatch.context() as patch:
        patch.setattr(label_imports.LabelImports, "_followed", cut_off)
        with pytest.raises(ConnectionAbortedError):
            run(*words)
    done = run(*words, "--resume")
    assert done["state"] == "done"
    assert LabelTransfer.objects.count() == 1
    assert Version.objects.count() == 2


def cut_off_import(patch: pytest.MonkeyPatch, *, is_received: bool) -> None:
    """Let the network break at the request for an import, before or after it is received."""
    send = httpx.Client.send

    def broken(client: httpx.Client, request: httpx.Request, **options: Any) -> httpx.Response:
        if not request.url.path.endswith("labelx/imports/"):
            return send(client, request, **options)
        if is_received:
            # No worker has time for it yet.
            patch.setitem(app.conf, "task_always_eager", False)
            send(client, request, **options)
        raise ConnectionAbortedError

    patch.setattr(httpx.Client, "send", broken)


@pytest.mark.parametrize("cleared", ["bytes", "bytes of a request", "upload"])
def test_an_import_whose_file_was_cleared_sends_it_again(
    run: Any, labels: Path, monkeypatch: pytest.MonkeyPatch, cleared: str
) -> None:
    words = ("labels", "import", "street", str(labels), "--existing", "add")
    with monkeypatch.context() as patch:
        cut_off_import(patch, is_received=cleared == "bytes of a request")
        with pytest.raises(ConnectionAbortedError):
            run(*words)
    upload = Upload.objects.get()
    assert upload.state == "verified"
    storage.objects().delete(upload.key)
    if cleared == "upload":
        upload.delete()
    for transfer in LabelTransfer.objects.all():
        run_transfer(transfer.pk)
    done = run(*words, "--resume")
    assert done["outcome"] == {"version": "v2", "unchanged": False}
    paths = set(drawn_on(Dataset.objects.get(name="street")))
    assert paths == {"train/a.png", "train/b.png", PATHS[3]}
    refused = LabelTransfer.objects.filter(state="failed")
    codes = [stored_failure(each.error_code, each.error_detail) for each in refused]
    assert [code and code["detail_code"] for code in codes] == (
        [] if cleared == "upload" else ["labeling.labels_cleared"]
    )


def test_the_classes_of_a_version_are_shown_with_their_counts(run: Any, labels: Path) -> None:
    run("labels", "import", "street", str(labels))
    answer = run("labels", "classes", "street@v2")
    assert answer["counts"] == [{"name": "car", "objects": 1}, {"name": "行人", "objects": 1}]
    assert [label["tools"] for label in answer["labels"]] == [["box"], ["box"]]
    assert run("labels", "classes", "street@v1")["counts"] == []
