"""Symbolic links of a folder: pushed, kept in versions, pulled, merged, and never led out by."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from atom.datasets.catalog.stores import version_store
from atom.datasets.models import Dataset, Version
from atom.gateway.s3.files import VersionFiles
from atom_sdk.client import Client
from atom_sdk.client.errors import CommitFailedError
from atom_sdk.client.pull.pull import PullOptions, PullResult
from atom_sdk.client.push.importing import ImportOptions
from atom_sdk.client.push.push import PushOptions
from atom_sdk.client.writing import WriterOptions
from atom_sdk.errors import PathInTheWayError
from atom_sdk.fs import AtomFileSystem
from atom_sdk.packs.walk import SkippedPath
from tests.datasets.pushing import png

Atom = Callable[..., tuple[int, str, str]]
LABELS = PushOptions(labels_from="folder")


@pytest.fixture
def icons(tmp_path: Path) -> Path:
    """Three pictures in two classes, and links of each kind."""
    root = tmp_path / "icons"
    for number, path in enumerate(("cat/a.png", "cat/b.png", "dog/a.png")):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(png(number))
    for path, target in {
        "16/cat.png": "../cat/a.png",
        "16/twice.png": "cat.png",
        "16/through.png": "../pets/b.png",
        "16/broken.png": "nothing.png",
        "pets": "cat",
        "pets-too": "./pets/",
        "round": "round",
        "outside": "../elsewhere/x.png",
        "root": "/etc/hostname",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).symlink_to(target)
    return root


def tree_of(folder: Path) -> dict[str, str | bytes]:
    """Targets of links and bytes of files by path; links are not followed."""
    found: dict[str, str | bytes] = {}
    for root, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(root, name)
            key = path.relative_to(folder).as_posix()
            if path.is_symlink():
                found[key] = os.readlink(path)
            elif path.is_file():
                found[key] = path.read_bytes()
    return found


def pull(client: Client, out: Path, reference: str = "icons", **options: Any) -> PullResult:
    return client.datasets.pull(reference, out, PullOptions(**options))


def test_what_is_pulled_is_what_was_pushed(client: Client, icons: Path, tmp_path: Path) -> None:
    pushed = client.datasets.push(icons, "icons", LABELS)
    assert (pushed.files_total, pushed.links_total, pushed.links_sent) == (3, 9, 9)
    assert pushed.skipped == ()

    result = pull(client, tmp_path / "out")

    whole = tree_of(icons)
    leaving = {"outside", "root"}
    assert tree_of(tmp_path / "out") == {p: v for p, v in whole.items() if p not in leaving}
    assert (result.selected, result.written) == (3, 3)
    assert (result.links, result.links_written) == (7, 7)
    reason = "its link leads out of the version"
    assert result.left_out == (SkippedPath("outside", reason), SkippedPath("root", reason))
    assert result.left_out_file is not None
    named = Path(result.left_out_file).read_text()
    assert named == f"outside\t{reason}\nroot\t{reason}\n"

    again = pull(client, tmp_path / "out")
    assert (again.written, again.links_written, again.others) == (0, 0, 0)
    unsafe = pull(client, tmp_path / "out", unsafe_links=True)
    assert (unsafe.links, unsafe.links_written, unsafe.left_out) == (9, 2, ())
    assert tree_of(tmp_path / "out") == whole
    # Links that are there already count, whoever made them.
    assert pull(client, tmp_path / "out").left_out == ()


def test_labels_and_splits_stay_with_the_file(client: Client, icons: Path) -> None:
    split = {"test": 1, "seed": 3}
    client.datasets.push(icons, "icons", PushOptions(labels_from="folder", split=split))

    rows = {row["path"]: row for row in client.datasets.entries("icons")}
    assert {path: row["label"] for path, row in rows.items() if row["label"]} == {
        "cat/a.png": "cat",
        "cat/b.png": "cat",
        "dog/a.png": "dog",
    }
    dataset = client.datasets.open("icons")
    index = dataset.index
    shown = {index.path_of(row): index.label_of(row) for row in range(len(index))}
    assert shown == {
        "16/cat.png": "cat",
        "16/through.png": "cat",
        "16/twice.png": "cat",
        "cat/a.png": "cat",
        "cat/b.png": "cat",
        "dog/a.png": "dog",
    }
    for path, real in (("16/cat.png", "cat/a.png"), ("16/through.png", "cat/b.png")):
        row = index.row_of(path)
        assert bytes(dataset[row].data) == (icons / real).read_bytes()
        assert index.split_of(row) == index.split_of(index.row_of(real))


def test_a_second_push_sends_what_changed(client: Client, icons: Path, tmp_path: Path) -> None:
    client.datasets.push(icons, "icons", LABELS)
    assert client.datasets.push(icons, "icons", LABELS).unchanged

    (icons / "16/cat.png").unlink()
    (icons / "16/cat.png").symlink_to("../dog/a.png")
    (icons / "pets").unlink()
    (icons / "pets").mkdir()
    (icons / "pets" / "real.png").write_bytes(png(8))
    (icons / "dog" / "a.png").rename(icons / "dog" / "b.png")
    (icons / "dog" / "a.png").symlink_to("b.png")
    second = client.datasets.push(icons, "icons", LABELS)

    assert (second.files_sent, second.links_sent, second.removed) == (1, 2, 1)
    pull(client, tmp_path / "out", unsafe_links=True)
    assert tree_of(tmp_path / "out") == tree_of(icons)
    difference = client.datasets.diff("icons@v1", "icons@v2")
    changes = {row["path"]: row["kind"] for row in difference["results"]}
    assert changes["16/cat.png"] == "changed"
    labels = {row["path"]: row["label"] for row in client.datasets.entries("icons@v2")}
    assert (labels["dog/a.png"], labels["dog/b.png"]) == (None, "dog")


def test_links_of_an_earlier_version_are_in_no_later_ones_way(
    client: Client, icons: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    client.datasets.push(icons, "icons")
    pull(client, out)
    (icons / "pets").unlink()
    (icons / "pets").mkdir()
    (icons / "pets" / "a.png").write_bytes(png(9))
    client.datasets.push(icons, "icons")

    # Through the old link, the file would be written into another folder.
    with pytest.raises(PathInTheWayError, match="pets"):
        pull(client, out)
    assert (out / "cat" / "a.png").read_bytes() == png(0)
    assert pull(client, out, delete=True).removed == 1
    assert (out / "pets" / "a.png").read_bytes() == png(9)
    assert (out / "cat" / "a.png").read_bytes() == png(0)


def test_a_link_that_an_older_one_leads_out_is_taken_away_again(
    client: Client, icons: Path, tmp_path: Path
) -> None:
    out = tmp_path / "deep" / "out"
    (icons / "16" / "up").symlink_to("..")
    client.datasets.push(icons, "icons")
    pull(client, out)
    assert os.readlink(out / "16" / "up") == ".."
    # In this version `16/up` is nothing, so the target reads as the file beside it.
    (icons / "16" / "up").unlink()
    (icons / "16" / "x").symlink_to("up/../../secret")
    client.datasets.push(icons, "icons")

    result = pull(client, out)

    assert not (out / "16" / "x").is_symlink()
    assert [left.path for left in result.left_out] == ["outside", "root", "16/x"]
    assert "another link" in result.left_out[2].reason


def test_delete_removes_old_links_and_leaves_those_of_the_user(
    client: Client, icons: Path, tmp_path: Path
) -> None:
    out, mine = tmp_path / "out", tmp_path / "mine"
    mine.mkdir()
    (mine / "kept.txt").write_text("kept")
    client.datasets.push(icons, "icons")
    pull(client, out)
    (out / "own").symlink_to(mine)
    for path in ("pets", "pets-too", "16/broken.png"):
        (icons / path).unlink()
    client.datasets.push(icons, "icons")

    assert pull(client, out).others == 3
    assert pull(client, out, delete=True).removed == 3
    left = tree_of(out)
    assert left.pop("own") == str(mine)
    assert left == {p: v for p, v in tree_of(icons).items() if p not in {"outside", "root"}}
    assert (mine / "kept.txt").exists()


def test_a_part_is_pulled_with_the_links_to_its_files(
    client: Client, icons: Path, tmp_path: Path
) -> None:
    client.datasets.push(icons, "icons", LABELS)
    pull(client, tmp_path / "dogs", selector={"where": "label = 'dog'"})
    assert set(tree_of(tmp_path / "dogs")) == {"dog/a.png"}
    pull(client, tmp_path / "small", selector={"prefix": "16/"})
    assert set(tree_of(tmp_path / "small")) == {
        "16/broken.png",
        "16/cat.png",
        "16/through.png",
        "16/twice.png",
    }


def test_links_are_copied_on_request(client: Client, icons: Path, tmp_path: Path) -> None:
    elsewhere = icons.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "x.png").write_bytes(png(7))
    options = PushOptions(labels_from="folder", follow_links=True)
    pushed = client.datasets.push(icons, "icons", options)

    assert pushed.links_total == 0
    assert set(pushed.skipped) == {"16/broken.png", "round"}
    assert pushed.skipped_file is not None
    assert "round\tits link leads nowhere" in Path(pushed.skipped_file).read_text()
    pull(client, tmp_path / "out")
    found = tree_of(tmp_path / "out")
    assert found["16/twice.png"] == found["cat/a.png"] == found["pets-too/a.png"] == png(0)
    assert found["outside"] == png(7)
    labels = {row["path"]: row["label"] for row in client.datasets.entries("icons")}
    assert labels["16/cat.png"] == "16"


def test_two_pushes_that_meet_keep_both_links(client: Client, icons: Path, tmp_path: Path) -> None:
    first = client.datasets.push(icons, "icons")
    other = tmp_path / "other"
    pull(client, other, unsafe_links=True)
    (icons / "new-link").symlink_to("cat/b.png")
    (other / "16" / "other-link").symlink_to("../dog/a.png")
    client.datasets.push(icons, "icons")
    client.operations.create_branch("icons", "work", first.version["ref"])
    client.datasets.push(other, "icons@work")
    client.operations.merge("icons@work", "main")
    pull(client, tmp_path / "merged", unsafe_links=True)
    merged = tree_of(tmp_path / "merged")
    assert merged["new-link"] == "cat/b.png"
    assert merged["16/other-link"] == "../dog/a.png"


def test_a_client_cannot_label_a_link_or_lie_about_it(
    client: Client, pusher: Any, icons: Path
) -> None:
    row: dict[str, Any] = {"op": "put", "path": "l", "link": "a", "label": "cat"}
    request = pusher.commit([row], message="a label for a link")
    assert (request["state"], request["error"]["code"]) == ("failed", "changes_unreadable")
    assert "label the file" in request["error"]["detail"]
    row = {"op": "put", "path": "l", "link": ""}
    assert "target" in pusher.commit([row], message="no target")["error"]["detail"]
    # Only the target of a client's link counts, not its size and digest.
    row = {"op": "put", "path": "l", "link": "a", "size": 7, "digest": bytes(32)}
    assert pusher.commit([row], message="a lie")["state"] == "published"
    (entry,) = client.datasets.entries("digits")
    assert entry["size_bytes"] == 1


def test_the_command_line_tells_of_links(atom: Atom, icons: Path, tmp_path: Path) -> None:
    code, out, err = atom("data", "push", str(icons), "icons", "--labels", "folder")
    assert code == 0, err
    assert "3 files and 9 links" in out
    assert "2 links lead out of the folder ('outside', 'root')" in err
    assert "--follow-links" in err

    code, out, err = atom("data", "stats", "icons@v1")
    assert code == 0, err
    assert out.startswith("3 files, 9 links\n")
    for command in (("log", "icons"), ("ls",), ("branch", "icons")):
        code, out, err = atom("data", *command)
        assert code == 0, err
        head, row = out.splitlines()[:2]
        at = head.index("files")
        assert head[at:].split()[:2] == ["files", "links"]
        assert row[at:].split()[:2] == ["3", "9"]

    code, out, err = atom("data", "ls", "icons")
    assert code == 0, err
    assert "root -> /etc/hostname" in out

    code, out, err = atom("data", "pull", "icons", str(tmp_path / "out"))
    assert code == 0, err
    assert "3 of 3 files and 7 of 7 links written" in out
    assert "Not created: 2 links, such as outside" in out
    code, out, _ = atom("--json", "data", "pull", "icons", str(tmp_path / "out"))
    assert code == 0
    answer = json.loads(out)
    assert (answer["links_selected"], answer["links_written"]) == (7, 0)
    assert [left["path"] for left in answer["left_out"]] == ["outside", "root"]


def test_attributes_of_a_link_stay_with_it(client: Client, icons: Path) -> None:
    options = PushOptions(attributes={"16/cat.png": {"px": 16}})
    client.datasets.push(icons, "icons", options)
    again = client.datasets.push(icons, "icons", PushOptions(attributes={"16/cat.png": {"px": 8}}))
    assert not again.unchanged
    rows = {row["path"]: row["attributes"] for row in client.datasets.entries("icons")}
    assert rows["16/cat.png"] == {"px": 8}


def test_a_writer_puts_a_file_where_a_link_was(client: Client, icons: Path) -> None:
    client.datasets.push(icons, "icons")
    with client.datasets.writer("icons", options=WriterOptions()) as writer:
        writer.write("16/cat.png", b"no link any more")
    dataset = client.datasets.open("icons")
    row = dataset.index.row_of("16/cat.png")
    assert bytes(dataset[row].data) == b"no link any more"
    # No file can be written below a link.
    with (
        pytest.raises(CommitFailedError, match="a file and a folder"),
        client.datasets.writer("icons") as writer,
    ):
        writer.write("pets/x.png", b"below a link")


def test_an_archive_holds_the_links(client: Client, icons: Path, tmp_path: Path) -> None:
    client.datasets.push(icons, "icons", LABELS)
    client.archives.save("icons", tmp_path / "saved")
    client.archives.load(tmp_path / "saved", name="again")
    pull(client, tmp_path / "out", "again", unsafe_links=True)
    assert tree_of(tmp_path / "out") == tree_of(icons)
    one, other = client.datasets.version("icons"), client.datasets.version("again")
    assert one["content_digest"] == other["content_digest"]


def test_an_import_keeps_links_or_takes_their_files(
    client: Client, icons: Path, tmp_path: Path
) -> None:
    result = client.datasets.import_(icons, "icons", ImportOptions(file_format="folder"))
    assert (result.report.files, result.report.links, result.push.links_sent) == (3, 9, 9)
    pull(client, tmp_path / "out", unsafe_links=True)
    assert tree_of(tmp_path / "out") == tree_of(icons)
    (icons / "outside").unlink()
    # With annotations, which are about files, a link is named; its file is taken on request.
    classes = ImportOptions(file_format="imagefolder")
    result = client.datasets.import_(icons, "classes", classes)
    assert result.report.skipped["it is a link; --follow-links takes what it leads to"] == 8
    followed = ImportOptions(file_format="imagefolder", follow_links=True)
    result = client.datasets.import_(icons, "followed", followed)
    assert result.report.labels == {"16": 3, "cat": 2, "dog": 1, "pets": 2, "pets-too": 2}


def test_the_api_says_where_links_lead_and_counts_them_apart(client: Client, icons: Path) -> None:
    split = {"test": 1, "seed": 3}
    client.datasets.push(icons, "icons", PushOptions(labels_from="folder", split=split))
    links = {row["path"]: row["link"] for row in client.datasets.entries("icons")}
    assert links["cat/a.png"] is None
    assert links["16/through.png"] == {
        "target": "../pets/b.png",
        "leads_to": "cat/b.png",
        "leaves": False,
        "kind": "file",
    }
    assert links["pets"]["leads_to"] == "cat"
    kinds = {path: link["kind"] for path, link in links.items() if link}
    assert kinds == {
        "16/broken.png": "nothing",
        "16/cat.png": "file",
        "16/through.png": "file",
        "16/twice.png": "file",
        "outside": "outside",
        "pets": "folder",
        "pets-too": "folder",
        "root": "outside",
        "round": "circle",
    }
    rows = {row["path"]: row for row in client.datasets.entries("icons")}
    picture = rows["cat/a.png"]["thumb_url"]
    assert picture is not None
    assert rows["16/cat.png"]["thumb_url"] == rows["16/twice.png"]["thumb_url"] == picture
    assert not any(rows[path]["thumb_url"] for path in ("16/broken.png", "pets", "root"))
    assert links["16/broken.png"]["leads_to"] == "16/nothing.png"
    assert (links["round"]["leads_to"], links["round"]["leaves"]) == (None, False)
    assert (links["root"]["leads_to"], links["root"]["leaves"]) == (None, True)
    stats = client.datasets.stats("icons")
    assert (stats["unlabelled"], stats["unsplit"], stats["unsplit_paths"]) == (0, 0, [])
    assert list(client.datasets.entries("icons", labelled="false")) == []


def test_an_s3_client_sees_links_to_files_as_files(client: Client, icons: Path) -> None:
    client.datasets.push(icons, "icons")
    store = version_store(Dataset.objects.get(name="icons").project)
    version = Version.objects.get(dataset__name="icons")
    files = VersionFiles(store.root(version.root), store)
    rows = files.rows_from("")
    assert rows is not None
    assert rows.paths == [
        "16/cat.png",
        "16/through.png",
        "16/twice.png",
        "cat/a.png",
        "cat/b.png",
        "dog/a.png",
    ]
    shown, real = files.find("16/twice.png"), files.find("cat/a.png")
    assert shown is not None
    assert real is not None
    assert (shown.path, shown.etag, shown.pack) == ("16/twice.png", real.etag, real.pack)
    assert (shown.media_type, shown.size_bytes) == (real.media_type, real.size_bytes)
    for path in ("pets", "round", "root", "outside", "16/broken.png", "pets/a.png"):
        assert files.find(path) is None
    # Nothing is after the last file, though links are.
    assert files.rows_from("e") is None


def test_fsspec_sees_links_to_files_as_files(client: Client, icons: Path) -> None:
    client.datasets.push(icons, "icons")
    config = client.http.config
    fs = AtomFileSystem(config.url, config.token, client.datasets.project, skip_instance_cache=True)
    project = client.datasets.project
    found = fs.find(f"atom://{project}/icons@v1")
    names = [path.split("@v1/")[1] for path in found]
    assert names == [
        "16/cat.png",
        "16/through.png",
        "16/twice.png",
        "cat/a.png",
        "cat/b.png",
        "dog/a.png",
    ]
    assert fs.cat(f"atom://{project}/icons@v1/16/twice.png") == png(0)
