"""Labels about pictures of other sides: counted, left out, and never scaled; sizes for YOLO."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from atom.accounts.actions import create_token
from atom.accounts.models import Project
from atom.core.storage import project_store
from atom.datasets.models import Dataset, Pack, Version
from atom_sdk.cli.context import Context
from atom_sdk.cli.main import cli
from atom_sdk.client import Client
from atom_sdk.label_formats.incoming import NoPictureTakenError
from atom_sdk.label_formats.known_pictures import picture_table
from atom_sdk.manifests import read_root
from tests.factories.accounts import make_member
from tests.labeling.exchange.transferring import Exchange, box, coco, drawn_on, picture

pytestmark = pytest.mark.django_db(transaction=True)

TINY, TURNED, ODD = "train/tiny.png", "train/turned.jpg", "hostile/a\\b.png"
CONTENTS = {
    TINY: picture(37, 23),
    TURNED: picture(orientation=6),
    ODD: picture(),
}


@pytest.fixture
def exchange(project: Project) -> Exchange:
    exchange = Exchange(project)
    exchange.dataset(CONTENTS, CONTENTS)
    return exchange


@pytest.fixture
def run(exchange: Exchange, live_server: Any, tmp_path: Path, monkeypatch: Any) -> Any:
    """Run a command as a researcher of the project; returns its JSON."""
    monkeypatch.setenv("ATOM_CACHE", str(tmp_path / "cache"))
    project = exchange.project
    version = Version.objects.get()
    store = project_store(project)
    table = picture_table(read_root(bytes.fromhex(version.root), store), store)
    for pack in set(table["pack"].to_pylist()):
        Pack.objects.create(project=project, digest=pack.hex(), size_bytes=1, state="verified")
    secret = create_token(make_member(project, "researcher"), "cli", ["admin"]).secret

    def run(*words: str) -> Any:
        context = Context()
        with Client(live_server.url, secret, project.slug) as client:
            context._client = client
            done = CliRunner().invoke(cli, ["--json", *words], obj=context, standalone_mode=False)
        if done.exception is not None:
            raise done.exception
        return json.loads(done.stdout)

    return run


def of(*names: str, size: tuple[int, int], **fields: Any) -> bytes:
    rows = [box(number + 1, number, **fields) for number in range(len(names))]
    return coco(*rows, names=names, size=size)


def counts(read: Any, word: str) -> dict[str, tuple[int, list[str]]]:
    return {row["code"]: (row["count"], row["first"]) for row in read[word]}


def test_objects_about_other_sides_are_left_out_with_the_picture_named(exchange: Exchange) -> None:
    done = exchange.bring(of(TINY, ODD, size=(640, 480)), "a.json")
    lost = counts(done["report"]["read"], "lost")
    assert lost == {"formats.sides_differ": (1, [f"{TINY} (640×480 ≠ 37×23)"])}
    assert set(drawn_on(Dataset.objects.get())) == {ODD}


def test_a_picture_without_objects_gets_its_true_sides(exchange: Exchange) -> None:
    done = exchange.bring(coco(names=(TINY,), size=(99, 99)), "a.json")
    assert counts(done["report"]["read"], "lost") == {}
    document = drawn_on(Dataset.objects.get())[TINY]
    assert (document.width, document.height, document.objects) == (37, 23, ())


def test_labels_of_which_no_picture_can_be_taken_say_why(exchange: Exchange) -> None:
    done = exchange.bring(of(TINY, size=(99, 99)), "a.json")
    assert done["state"] == "failed"
    assert "another width and height than theirs" in done["error"]["detail"]
    assert "about no picture" not in done["error"]["detail"]


def test_the_command_compares_and_turns_as_the_server_does(run: Any, tmp_path: Path) -> None:
    source = tmp_path / "a.json"
    source.write_bytes(of(TINY, ODD, TURNED, size=(640, 480)))
    words = ("labels", "import", "street", str(source))
    read = run(*words, "--dry-run")["read"]
    assert counts(read, "lost") == {"formats.sides_differ": (1, [f"{TINY} (640×480 ≠ 37×23)"])}
    assert counts(read, "changed") == {"formats.turned_upright": (1, [TURNED])}
    done = run(*words)
    assert done["read"]["read"] == read
    assert counts(done["report"]["read"], "changed") == {}
    documents = drawn_on(Dataset.objects.get())
    assert (documents[TURNED].width, documents[TURNED].height) == (480, 640)
    source.write_bytes(of(TINY, size=(99, 99)))
    with pytest.raises(NoPictureTakenError, match="another width and height"):
        run(*words)


@pytest.mark.parametrize(
    "name", ["atom", "atom-parquet", "coco", "cvat", "label-studio", "voc", "yolo"]
)
def test_an_export_goes_back_through_the_command_with_each_name(
    run: Any, exchange: Exchange, tmp_path: Path, name: str
) -> None:
    exchange.bring(of(ODD, size=(640, 480)), "a.json")
    before = drawn_on(Dataset.objects.get())[ODD].objects
    folder = tmp_path / name
    run("labels", "export", "street", "--format", name, "--out", str(folder))
    answer = run("labels", "import", "street", str(folder), "--dry-run")
    assert answer["matches"]["unmatched"] == []
    # The labels of YOLO name no suffix and stand below another folder.
    assert answer["matches"]["exact"] == (0 if name == "yolo" else 1)
    assert answer["read"]["objects"] == {"box": len(before)}
