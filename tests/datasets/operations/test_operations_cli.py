"""`atom data branch|tag|merge|revert|pick|rm|mv|cp|attr` against the real API."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from atom.datasets.models import Version
from tests.datasets.commands import Atom
from tests.datasets.prepared import made_once
from tests.datasets.pushing import Pusher, class_files, new_pusher, png


@pytest.fixture
def pusher(transactional_db: None) -> Pusher:
    """Version 1: three labelled classes."""
    return made_once(push_labelled)


def push_labelled() -> Pusher:
    pusher = new_pusher()
    pusher.push(class_files(), labels_from="folder")
    return pusher


def answer(atom: Atom, *arguments: str) -> Any:
    """Run a command with --json that must succeed; returns what it answers."""
    code, out, err = atom("--json", "data", *arguments)
    assert code == 0, err
    return json.loads(out)


def test_branches_are_made_merged_and_deleted(atom: Atom, pusher: Pusher) -> None:
    assert answer(atom, "branch", "digits", "fix", "--at", "v1")["head"]["ref"] == "v1"
    pusher.push({"a.png": png(1)}, branch="fix")
    assert answer(atom, "merge", "digits@fix", "--preview")["added"] == 1
    assert atom("data", "merge", "digits@fix", "digits@main")[1].startswith("digits@v2  +1 -0 ~0")
    assert answer(atom, "merge", "digits@fix", "main")["unchanged"]
    parents = answer(atom, "log", "digits")[0]["parents"]
    assert len(parents) == 2
    assert " + ".join(parent[:8] for parent in parents) in atom("data", "log", "digits")[1]

    code, said, _ = atom("data", "branch", "digits", "fix", "--delete")
    assert code == 0
    # The printed command makes the branch again.
    assert answer(atom, *said.split("atom data ")[1].split())["name"] == "fix"
    assert answer(atom, "tag", "release", "digits@v2")["version"]["ref"] == "v2"
    assert "release" in atom("data", "branch", "digits")[1]
    atom("data", "branch", "digits", "old", "--at", "v1")
    assert "+0 -1" in atom("data", "branch", "digits")[1]


def test_conflicts_are_listed_and_end_with_exit_code_4(atom: Atom, pusher: Pusher) -> None:
    atom("data", "branch", "digits", "fix")
    pusher.push({"0/000.png": png(50)})
    pusher.push({"0/000.png": png(60)}, branch="fix")

    code, _, err = atom("data", "merge", "digits@fix")
    assert code == 4
    assert "! 0/000.png: here changed, there changed" in err
    code, _, err = atom("--json", "data", "merge", "digits@fix")
    assert (code, json.loads(err)["code"], json.loads(err)["conflicts_total"]) == (
        4,
        "merge_conflict",
        1,
    )
    assert answer(atom, "merge", "digits@fix", "--theirs")["version"]["changed"] == 1


def test_conflicts_are_settled_by_name_and_by_a_file(
    atom: Atom, pusher: Pusher, tmp_path: Path
) -> None:
    atom("data", "branch", "digits", "fix")
    pusher.push({f"0/00{n}.png": png(50 + n) for n in range(3)})
    pusher.push({f"0/00{n}.png": png(60 + n) for n in range(3)}, branch="fix")
    taken = ("--take", "theirs:0/000.png", "--take", "ours:0/001.png")

    assert "1 conflict, 2 settled" in atom("data", "merge", "digits@fix", "--preview", *taken)[1]
    code, _, err = atom("data", "merge", "digits@fix", *taken)
    assert (code, "! 0/002.png" in err, "! 0/000.png" in err) == (4, True, False)
    assert "--take theirs:PATH" in err
    code, _, err = atom("data", "merge", "digits@fix", "--take", "ours:1/000.png")
    assert (code, "No conflict is at 1/000.png." in err) == (4, True)

    file = tmp_path / "settled.json"
    rows = answer(atom, "merge", "digits@fix", "--preview", *taken)["conflicts"]
    file.write_text(json.dumps([{**row, "take": "theirs"} for row in rows]))
    said = answer(atom, "merge", "digits@fix", *taken, "--resolutions", str(file))
    assert (said["version"]["changed"], said["version"]["provenance"]["conflicts_settled"]) == (
        2,
        3,
    )


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--take", "mine:a"), "Write ours:PATH or theirs:PATH"),
        (("--take", "ours:"), "Write ours:PATH or theirs:PATH"),
        (("--resolutions", "{}"), "must hold a JSON list"),
        (("--resolutions", "["), "is not JSON"),
        (("--resolutions", '[{"path": "a"}]'), "needs 'path' and 'take'"),
        (("--take", "ours:a", "--take", "theirs:a"), "Settled more than once: a."),
    ],
)
def test_choices_of_side_that_cannot_be_meant_end_with_exit_code_2(
    atom: Atom, tmp_path: Path, arguments: tuple[str, ...], told: str
) -> None:
    if arguments[0] == "--resolutions":
        file = tmp_path / "settled.json"
        file.write_text(arguments[1])
        arguments = ("--resolutions", str(file))

    code, _, err = atom("data", "merge", "digits@main", "main", *arguments)

    assert (code, told in err) == (2, True), err


def test_a_version_is_undone_and_a_path_of_it_picked_again(atom: Atom, pusher: Pusher) -> None:
    pusher.push({"a.png": png(1), "b.png": png(2)}, message="two more")

    assert answer(atom, "revert", "digits@v2")["version"]["message"] == "Revert v2: two more"
    version = answer(atom, "pick", "digits@v2", "a.png", "-m", "one of them")["version"]
    assert (version["added"], version["message"]) == (1, "one of them")
    assert atom("data", "pick", "digits@v2")[0] == 2
    assert atom("data", "revert", "digits@v99")[0] == 3


def test_files_are_edited_without_a_folder(atom: Atom) -> None:
    assert answer(atom, "rm", "digits", "0/000.png", "1/")["version"]["removed"] == 5
    assert answer(atom, "mv", "digits", "2/", "two/")["version"]["added"] == 4
    assert answer(atom, "cp", "digits", "1", "again/", "--from", "v1")["version"]["added"] == 4
    edited = answer(atom, "attr", "digits", "two", "--set", "rank=3", "--where", "name > '001.png'")
    assert edited["version"]["changed"] == 2
    assert atom("data", "mv", "digits", "nowhere", "there")[0] == 3
    assert atom("data", "cp", "digits", "two", "../../two")[0] == 2
    code, _, err = atom("data", "rm", "digits", "nowhere")
    assert (code, "no file" in err.lower()) == (3, True)
    assert atom("data", "attr", "digits", "two", "--set", "rank")[0] == 2


def test_views_are_saved_used_renamed_and_removed(atom: Atom) -> None:
    assert "has no view" in atom("data", "views", "list", "digits")[1]
    saved = answer(atom, "views", "save", "digits", "ones", "--where", "label = '1'")
    assert saved["query"] == "label = '1'"
    assert atom("data", "views", "save", "digits", "bad", "--where", "label =")[0] != 0
    changed = answer(atom, "views", "save", "digits", "ones", "--prefix", "1/", "--replace")
    assert (changed["where"], changed["query"]) == ("", "path LIKE '1/%'")
    assert "path LIKE '1/%'" in atom("data", "views", "show", "digits", "ones")[1]

    code, out, err = atom("data", "attr", "digits", "--view", "ones", "--set", "seen=true")
    assert code == 0, err
    assert "+0 -0 ~4" in out
    assert answer(atom, "views", "rename", "digits", "ones", "firsts")["name"] == "firsts"
    assert "firsts" in atom("data", "views", "list", "digits")[1]
    assert answer(atom, "views", "remove", "digits", "firsts")["query"] == "path LIKE '1/%'"
    assert answer(atom, "views", "list", "digits") == []


def test_the_author_of_a_version_that_was_loaded_is_named(atom: Atom) -> None:
    Version.objects.update(author=None, author_name="ann of another server")
    assert "ann of another server" in atom("data", "log", "digits")[1]


def test_a_refused_merge_names_the_flags_that_settle_it(atom: Atom, pusher: Pusher) -> None:
    atom("data", "branch", "digits", "fix")
    pusher.push({"0/000.png": png(50)})
    pusher.push({"0/000.png": png(60)}, branch="fix")
    assert "--ours or --theirs" in atom("data", "merge", "digits@fix")[2]
