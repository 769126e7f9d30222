"""Pushes that are cut off, and pushes that meet: nothing is sent twice and nothing is half done."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from blake3 import blake3

from atom_sdk.client import Client
from tests.e2e import breaking
from tests.stack import Stack

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.slow,
    pytest.mark.xdist_group("faults"),
    pytest.mark.timeout(300),
]


@pytest.fixture
def environment(survivor: Client, tmp_path: Path) -> dict[str, str]:
    """The environment of a shell after `atom login`."""
    return {
        **os.environ,
        "ATOM_URL": survivor.config.url,
        "ATOM_TOKEN": survivor.config.token or "",
        "ATOM_PROJECT": survivor.project,
        "ATOM_CACHE": str(tmp_path / "cache"),
        "ATOM_CONFIG": str(tmp_path / "config.json"),
    }


def test_a_killed_push_goes_on_where_it_was_and_makes_the_same_version(
    whole_stack: Stack,
    survivor: Client,
    environment: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ATOM_CACHE", environment["ATOM_CACHE"])
    dataset = f"cut-off-{uuid.uuid4().hex[:8]}"
    folder = tmp_path / "files"
    breaking.write_files(folder, count=1, size_bytes=150 << 20, seed=2)
    breaking.write_files(folder / "small", count=11, size_bytes=1000, seed=3)
    push = start_push(folder, dataset, environment)
    upload = breaking.wait_for(
        lambda: begun_upload(whole_stack, survivor, dataset),
        "two parts",
        every_s=breaking.MOMENT_S,
    )
    push.kill()
    push.communicate()
    arrived = breaking.settled(lambda: parts_of(survivor, dataset, upload))
    wanted = set(range(1, -(-upload["size_bytes"] // upload["part_size_bytes"]) + 1))
    assert 2 <= len(arrived) < len(wanted)
    assert not list(survivor.datasets.log(dataset))

    sent: dict[str, set[int]] = {}
    with recording_parts(survivor, sent):
        result = survivor.datasets.push(folder, dataset)
    assert sent[upload["key"]] == wanted - arrived
    assert (result.version["ref"], result.version["file_count"]) == ("v1", 12)
    stored = {
        entry["path"]: entry["digest"] for entry in survivor.datasets.entries(f"{dataset}@v1")
    }
    assert stored == {
        n: blake3(data).hexdigest() for n, data in breaking.content_of(folder).items()
    }
    at_once = survivor.datasets.push(folder, f"{dataset}-at-once").version
    assert at_once["content_digest"] == result.version["content_digest"]


@pytest.mark.deep
def test_two_pushes_at_once_make_two_whole_versions(
    survivor: Client, environment: dict[str, str], tmp_path: Path
) -> None:
    dataset = f"met-{uuid.uuid4().hex[:8]}"
    folders = [tmp_path / name for name in ("one", "other")]
    pushes = []
    for seed, folder in enumerate(folders):
        # Large enough that both have begun before one of them ends.
        breaking.write_files(folder / folder.name, count=30 + seed, size_bytes=2_000_000, seed=seed)
        pushes.append(start_push(folder, dataset, environment))
    answers = [answer_of(push) for push in pushes]

    versions = list(survivor.datasets.log(dataset))
    assert sorted(version["ref"] for version in versions) == ["v1", "v2"]
    assert {answer["version"]["ref"] for answer in answers} == {"v1", "v2"}
    newest, oldest = versions
    assert (oldest["parents"], newest["parents"]) == ([], [oldest["commit"]])
    expected: dict[str, str] = {}
    refs = [answer["version"]["ref"] for answer in answers]
    for ref, folder in sorted(zip(refs, folders, strict=True)):
        files = breaking.content_of(folder)
        # The second push keeps what the first one added.
        expected |= {name: blake3(data).hexdigest() for name, data in files.items()}
        stored = {e["path"]: e["digest"] for e in survivor.datasets.entries(f"{dataset}@{ref}")}
        assert stored == expected


def test_a_commit_on_a_head_that_moved_is_refused_with_what_to_do(
    whole_stack: Stack, survivor: Client, tmp_path: Path
) -> None:
    dataset = f"moved-{uuid.uuid4().hex[:8]}"
    breaking.write_files(tmp_path / "first", count=2, size_bytes=1000, seed=5)
    breaking.write_files(tmp_path / "second", count=3, size_bytes=1000, seed=6)
    old = survivor.datasets.push(tmp_path / "first", dataset).version
    head = survivor.datasets.push(tmp_path / "second", dataset).version
    request = commit_again(whole_stack, survivor, dataset, expected_head=old["commit"])
    assert request["state"] == "conflict"
    assert request["error"]["code"] == "head_moved"
    assert request["error"]["head"] == head["commit"]
    assert "main" in request["error"]["detail"]
    assert [version["ref"] for version in survivor.datasets.log(dataset)] == ["v2", "v1"]


def start_push(folder: Path, dataset: str, environment: dict[str, str]) -> subprocess.Popen[str]:
    """Start `atom data push` in a process of its own, which leaves the machine to those it asks."""
    atom = str(Path(sys.executable).parent / "atom")
    return subprocess.Popen(
        [
            "nice",
            "-n",
            "10",
            atom,
            "--json",
            "data",
            "push",
            str(folder),
            dataset,
            "-m",
            folder.name,
        ],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def answer_of(push: subprocess.Popen[str]) -> dict[str, Any]:
    """Return what a push printed; a conflict would have exit code 4 and say what to do."""
    out, err = push.communicate(timeout=breaking.PATIENCE_S)
    assert push.returncode == 0, err
    return dict(json.loads(out))


def begun_upload(stack: Stack, client: Client, dataset: str) -> dict[str, Any] | None:
    """Return the upload of the large file once at least two of its 10 parts have arrived."""
    rows = stack.query(
        "SELECT u.id, u.key, u.size_bytes, u.part_size_bytes FROM datasets_upload u "
        f"JOIN datasets_dataset d ON d.id = u.dataset_id WHERE d.name = '{dataset}' "
        "AND u.size_bytes > 100e6"
    )
    for row in rows:
        upload = dict(zip(("id", "key", "size_bytes", "part_size_bytes"), row, strict=True))
        if len(parts_of(client, dataset, upload)) >= 2:
            return upload
    return None


def parts_of(client: Client, dataset: str, upload: dict[str, Any]) -> set[int]:
    """Return the numbers of the parts that the store has."""
    found = client.http.get(f"{client.datasets.base(dataset)}uploads/{upload['id']}/")
    return {part["n"] for part in found["parts_done"]}


class recording_parts:  # noqa: N801  # reads as a statement
    """Note which parts of which object are sent: `{key: {1, 2}}`."""

    def __init__(self, client: Client, sent: dict[str, set[int]]) -> None:
        self._hooks = client.http.objects.event_hooks
        self._sent = sent

    def __enter__(self) -> None:
        self._hooks["request"].append(self._note)

    def __exit__(self, *_: object) -> None:
        self._hooks["request"].remove(self._note)

    def _note(self, request: httpx.Request) -> None:
        url = urlsplit(str(request.url))
        numbers = parse_qs(url.query).get("partNumber")
        if request.method == "PUT" and numbers:
            key = url.path.split("/", 2)[2]
            self._sent.setdefault(key, set()).add(int(numbers[0]))


def commit_again(stack: Stack, client: Client, dataset: str, expected_head: str) -> dict[str, Any]:
    """Ask for a commit of the dataset's last changes on an old head; return its end."""
    ((upload,),) = stack.query(
        "SELECT u.id FROM datasets_upload u JOIN datasets_dataset d ON d.id = u.dataset_id "
        f"WHERE d.name = '{dataset}' AND u.kind = 'changes' ORDER BY u.id DESC LIMIT 1"
    )
    address = f"{client.datasets.base(dataset)}commits/"
    body = {"branch": "main", "changes_upload": str(upload), "expected_head": expected_head}
    asked = client.http.post(address, body)

    def ended() -> dict[str, Any] | None:
        found = dict(client.http.get(f"{address}{asked['id']}/"))
        return None if found["state"] in {"pending", "building"} else found

    return breaking.wait_for(ended, "the end of the commit")
