"""The files of a run as folders, and what a page shows of them; hostile ones do no harm."""

from __future__ import annotations

import hashlib
import json
import struct
from typing import Any

import pytest
from rest_framework.test import APIClient

from atom.core import storage
from atom.jobs import states
from atom.jobs.artifacts.actions import stored_files
from atom.jobs.artifacts.actions.stored_files import StoredFile
from atom.jobs.models import Artifact, Attempt
from tests.factories.accounts import make_member, make_user
from tests.factories.jobs import make_attempt
from tests.streams import bytes_of

pytestmark = pytest.mark.django_db


def keep(attempt: Attempt, path: str, data: bytes = b"x") -> Artifact:
    key = stored_files.new_key(attempt.run)
    storage.objects().put(key, data)
    sha256 = hashlib.sha256(data + path.encode()).hexdigest()
    return stored_files.keep_file(attempt, StoredFile(path, key, len(data), sha256, "0" * 64))


def announce(attempt: Attempt, path: str, **fields: Any) -> Artifact:
    given = {"size_bytes": 5, "sha256": "a" * 64, "kind": "output", **fields}
    return Artifact.objects.create(run=attempt.run, attempt=attempt, path=path, key="", **given)


def member(attempt: Attempt) -> APIClient:
    api = APIClient()
    api.force_authenticate(make_member(attempt.run.project))
    return api


def folder(attempt: Attempt, path: str = "") -> dict[str, Any]:
    url = f"/api/v1/runs/{attempt.run_id}/files/folder/"
    found: dict[str, Any] = member(attempt).get(url, {"path": path}).json()
    return found


def shown(path: str, data: bytes) -> dict[str, Any]:
    attempt = make_attempt()
    file = keep(attempt, path, data)
    answer = member(attempt).get(f"/api/v1/runs/{attempt.run_id}/files/{file.pk}/preview/")
    assert answer.status_code == 200, answer.json()
    found: dict[str, Any] = json.loads(answer.content)
    return found


def test_a_run_is_browsed_by_folder_while_it_writes() -> None:
    attempt = make_attempt()
    keep(attempt, "metrics.csv", b"12345")
    announce(attempt, "checkpoints/step-10/model.pt", kind="checkpoint", step=10)
    announce(attempt, "checkpoints/step-20/model.pt", kind="checkpoint", step=20, size_bytes=7)
    top = folder(attempt)
    assert [(one["path"], one["state"]) for one in top["files"]] == [("metrics.csv", "persisted")]
    (checkpoints,) = top["folders"]
    assert (checkpoints["name"], checkpoints["files"], checkpoints["size_bytes"]) == (
        "checkpoints", 2, 12,
    )  # fmt: skip
    inside = folder(attempt, "checkpoints/")
    assert [one["name"] for one in inside["folders"]] == ["step-10", "step-20"]
    (file,) = folder(attempt, "checkpoints/step-10")["files"]
    assert (file["state"], file["download_url"]) == (states.LOCAL, None)
    assert folder(attempt, "check") == {"folders": [], "files": [], "truncated": False}


def test_of_a_path_only_the_newest_file_is_listed() -> None:
    first = make_attempt()
    announce(first, "out/result.json")
    second = make_attempt(first.run)
    newest = announce(second, "out/result.json", sha256="b" * 64)
    (file,) = folder(first, "out")["files"]
    assert (file["id"], file["attempt"]) == (str(newest.pk), 2)
    assert folder(first)["folders"][0]["files"] == 1


def test_names_with_wildcards_are_names() -> None:
    attempt = make_attempt()
    announce(attempt, "100%_done/a.txt")
    announce(attempt, "100x_done/b.txt")
    assert [one["path"] for one in folder(attempt, "100%_done")["files"]] == ["100%_done/a.txt"]


def test_strangers_learn_nothing_and_files_of_other_runs_are_not_of_this_one() -> None:
    attempt, other = make_attempt(), make_attempt()
    file = keep(other, "a.txt")
    stranger = APIClient()
    stranger.force_authenticate(make_user())
    assert stranger.get(f"/api/v1/runs/{attempt.run_id}/files/folder/").status_code == 404
    assert stranger.get(f"/api/v1/runs/{other.run_id}/files/{file.pk}/preview/").status_code == 404
    mine = f"/api/v1/runs/{attempt.run_id}/files/{file.pk}/"
    assert member(attempt).get(mine).status_code == 404
    assert member(attempt).get(f"{mine}preview/").status_code == 404


def test_a_table_has_typed_columns() -> None:
    text = "\ufeffepoch;loss;ok;at;note\n1;0.5;true;2026-01-02;a\n2;nan;false;2026-01-03;=1+1\n"
    found = shown("metrics.csv", text.encode())
    types = [(one["name"], one["type"]) for one in found["table"]["columns"]]
    assert types == [
        ("epoch", "integer"), ("loss", "number"), ("ok", "boolean"), ("at", "time"),
        ("note", "text"),
    ]  # fmt: skip
    assert found["table"]["rows"][1] == ["2", "nan", "false", "2026-01-03", "=1+1"]
    assert not found["truncated"]


def test_a_long_and_ragged_table_is_cut() -> None:
    lines = ["a\tb"] + ["1\t2\t3"] + ["4"] * 1500
    found = shown("metrics.tsv", "\n".join(lines).encode())
    assert len(found["table"]["rows"]) == 1000
    assert found["table"]["rows"][:2] == [["1", "2", "3"], ["4", None, None]]
    assert found["truncated"]


@pytest.mark.parametrize("path", ["a.json", "a.yaml"])
def test_a_document_is_a_tree(path: str) -> None:
    found = shown(path, b'{"a": [1, {"b": null}], "big": 12345678901234567890}')
    assert found["kind"] == "tree"
    assert found["value"] == {"a": [1, {"b": None}], "big": "12345678901234567890"}
    assert found["numbers"] == ["/big"]


def test_numbers_that_a_browser_does_not_have_are_told_from_texts() -> None:
    data = (
        b'{"a/b": [NaN, "nan", -Infinity, 1e999], "~": -12345678901234567890, "s": "1", "t": true}'
    )
    found = shown("a.json", data)
    assert found["value"]["a/b"] == ["NaN", "nan", "-Infinity", "Infinity"]
    assert found["numbers"] == ["/a~1b/0", "/a~1b/2", "/a~1b/3", "/~0"]
    assert shown("b.yaml", b"a: .nan\nb: '.nan'\n")["numbers"] == ["/a"]


def test_pointers_to_many_numbers_behind_long_keys_have_an_end() -> None:
    inner = "[" + ",".join(["NaN"] * 10_000) + "]"
    for _ in range(30):
        inner = f'{{"{"k" * 1900}": {inner}}}'
    assert sum(map(len, shown("deep.json", inner.encode())["numbers"])) <= 256 << 10


def bomb() -> bytes:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    nine = (", ".join([f"*a{level}"] * 9) for level in range(29))
    lines += [f"a{level}: &a{level} [{aliases}]" for level, aliases in enumerate(nine, 1)]
    return "\n".join(lines).encode()


@pytest.mark.parametrize(
    ("path", "data", "kind"),
    [
        ("bomb.yaml", bomb(), "tree"),
        ("cycle.yaml", b"&a [*a]", "tree"),
        ("object.yaml", b"!!python/object/apply:os.system ['true']", "text"),
        ("deep.json", b"[" * 100_000 + b"]" * 100_000, "text"),
        ("deep.yaml", b"[" * 100_000 + b"]" * 100_000, "text"),
        ("merge.yaml", b"a: &a {b: 1}\nc: {<<: [*a, *a]}", "text"),
        ("broken.json", b'{"a": ', "text"),
        ("digits.json", b"1" * 10_000, "text"),
        ("nan.json", b"[NaN, Infinity]", "tree"),
        ("half.json", b'["\\ud800"]', "tree"),
        ("latin.json", b'["\xe9"]', "text"),
        ("binary.txt", b"a\0b", "none"),
        ("binary.csv", b"a,\0b", "none"),
        ("empty.csv", b"", "text"),
        ("quote.csv", b'"' + b"a" * (2 << 20), "text"),
        ("page.html", b"<script>alert(1)</script>", "text"),
        ("image.svg", b"<svg onload=alert(1)>", "text"),
        ("readme.md", b"<img src=x onerror=alert(1)>", "markdown"),
        ("events.out.tfevents.1", b"\xff" * 4000, "scalars"),
        ("events.out.tfevents.2", b"\3" + b"\0" * 11 + b"\x2a\xff\xff" + b"\0" * 4, "scalars"),
        ("weights.bin", b"\0\1\2", "none"),
    ],
)  # fmt: skip
def test_hostile_and_broken_files_do_no_harm(path: str, data: bytes, kind: str) -> None:
    assert shown(path, data)["kind"] == kind


def test_a_file_that_is_not_stored_yet_says_so() -> None:
    attempt = make_attempt()
    file = announce(attempt, "a.csv")
    url = f"/api/v1/runs/{attempt.run_id}/files/{file.pk}/preview/"
    found = member(attempt).get(url).json()
    assert (found["kind"], found["reason"]) == ("none", "not_stored")


def message(number: int, kind: int, value: bytes) -> bytes:
    size = bytes([len(value)]) if kind == 2 else b""
    return bytes([number << 3 | kind]) + size + value


def record(step: int, tag: str, value: bytes) -> bytes:
    summary = message(1, 2, message(1, 2, tag.encode()) + value)
    event = message(1, 1, struct.pack("<d", 1.5)) + message(2, 0, bytes([step]))
    event += message(5, 2, summary)
    return struct.pack("<QI", len(event), 0) + event + b"\0\0\0\0"


def test_scalars_of_tensorboard_are_curves_up_to_where_a_live_file_ends() -> None:
    tensor = message(1, 0, b"\1") + message(2, 2, b"") + message(4, 2, struct.pack("<f", 0.25))
    picture = message(4, 2, b"png")
    data = (
        record(1, "loss", message(2, 5, struct.pack("<f", 0.5)))
        + record(2, "loss", message(8, 2, tensor))
        + record(2, "image", picture)
    )
    found = shown("logs/events.out.tfevents.123.host", data + data[:20])
    (curve,) = found["curves"]
    assert (curve["key"], curve["steps"], curve["values"]) == ("loss", [1, 2], [0.5, 0.25])
    assert (curve["ts"], found["others"]) == ([1500, 1500], 1)


def test_a_picture_comes_from_this_origin() -> None:
    attempt = make_attempt()
    reader, data = member(attempt), b"\x89PNG and so on"
    picture, text, lost = (
        keep(attempt, f"out/{name}", data) for name in ("a.png", "b.txt", "c.png")
    )
    storage.objects().delete(lost.key)
    answer: Any = reader.get(f"/api/v1/runs/{attempt.run_id}/files/{picture.pk}/picture/")
    assert (answer.status_code, answer["Content-Type"]) == (200, "image/png")
    assert (answer["X-Content-Type-Options"], bytes_of(answer)) == ("nosniff", data)
    for other in (text, lost):
        refused = reader.get(f"/api/v1/runs/{attempt.run_id}/files/{other.pk}/picture/")
        assert refused.status_code == 404
