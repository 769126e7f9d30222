"""Changes of a run's code since its commit, and differences between the code of two runs."""

from __future__ import annotations

import io
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from atom.accounts.models import Project
from atom.core import storage
from atom.jobs.code.actions import code
from atom.jobs.code.engines.code_diff import CodeFile, diff_files, split_patch
from atom.jobs.code.pipelines import code_files
from atom.jobs.models import CodeSnapshot, Run
from atom_sdk.client.code import git_diff as client_changes
from atom_sdk.client.code.snapshot import take_snapshot
from tests.factories.accounts import make_project
from tests.factories.jobs import make_run

pytestmark = pytest.mark.django_db


def archive(files: dict[str, bytes]) -> bytes:
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w:gz") as tar:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return raw.getvalue()


def run_of(project: Project, files: dict[str, bytes], **fields: Any) -> Run:
    data = archive(files)
    return make_run(project, code=code.store(project, data, len(files)), **fields)


def compared(api: APIClient, project: Project, *runs: Run) -> Any:
    names = ",".join(str(run.number) for run in runs)
    return api.get(f"/api/v1/projects/{project.slug}/runs/compare/code/", {"runs": names})


def git(folder: Path, *arguments: str) -> None:
    who = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


def test_what_a_working_tree_has_beside_its_commit_is_on_the_page_of_its_run(
    project: Project, api: APIClient, tmp_path: Path
) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "train.py").write_text("lr = 0.1\nepochs = 3\n")
    (tmp_path / "gone.py").write_text("x\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "first")
    (tmp_path / "train.py").write_text("lr = 0.2\nepochs = 3\n")
    (tmp_path / "gone.py").unlink()
    (tmp_path / "new é.py").write_text("print(1)\n")
    (tmp_path / "data.bin").write_bytes(b"\0\1")
    snapshot = take_snapshot(tmp_path)
    body = {
        "digest": snapshot.digest,
        "size_bytes": len(snapshot.archive),
        "git": snapshot.git,
        "changes": snapshot.changes,
    }
    url = f"/api/v1/projects/{project.slug}/code-snapshots/"
    made = api.post(url, body, format="json")
    assert made.status_code == 201, made.json()
    run = make_run(project, code=CodeSnapshot.objects.get(pk=made.json()["id"]))
    found = api.get(f"/api/v1/runs/{run.pk}/code/changes/").json()
    assert snapshot.git is not None
    assert found["commit"] == snapshot.git["commit"]
    told = {one["path"]: (one["status"], one["added"], one["removed"]) for one in found["files"]}
    assert told == {
        "train.py": ("changed", 1, 1),
        "gone.py": ("removed", 0, 1),
        "new é.py": ("added", 1, 0),
        "data.bin": ("added", 0, 0),
    }
    by_path = {one["path"]: one for one in found["files"]}
    assert "-lr = 0.1\n+lr = 0.2" in by_path["train.py"]["hunks"]
    assert by_path["data.bin"]["omitted"] == "binary"


@pytest.mark.parametrize(
    ("git_state", "reason"),
    [
        (None, "no_git"),
        ({"commit": "a" * 40, "dirty": False}, "clean"),
        ({"commit": "a" * 40, "dirty": True}, "untold"),
        ({"commit": 5}, "no_git"),
    ],
)
def test_why_there_are_no_changes_is_said(
    project: Project, api: APIClient, git_state: Any, reason: str
) -> None:
    run = run_of(project, {"a.py": b"1\n"})
    CodeSnapshot.objects.update(git=git_state)
    assert api.get(f"/api/v1/runs/{run.pk}/code/changes/").json()["reason"] == reason


def test_a_run_without_code_has_no_changes(project: Project, api: APIClient) -> None:
    run = make_run(project)
    assert api.get(f"/api/v1/runs/{run.pk}/code/changes/").json()["reason"] == "no_code"
    assert compared(api, project, run, make_run(project)).json()["reason"] == "no_code"


def test_the_code_of_two_runs_is_compared_file_by_file(project: Project, api: APIClient) -> None:
    old = run_of(project, {"a.py": b"1\n", "same.py": b"s\n", "w.bin": b"\0a", "old.py": b"o\n"})
    new = run_of(project, {"a.py": b"2\n", "same.py": b"s\n", "w.bin": b"\0b", "new.py": b"n\n"})
    found = compared(api, project, old, new).json()
    told = [(one["path"], one["status"], one["omitted"]) for one in found["files"]]
    assert told == [
        ("a.py", "changed", ""), ("new.py", "added", ""), ("old.py", "removed", ""),
        ("w.bin", "changed", "binary"),
    ]  # fmt: skip
    assert found["files"][0]["hunks"] == "@@ -1 +1 @@\n-1\n+2"
    assert compared(api, project, old, run_of(project, {**{"a.py": b"1\n"}})).status_code == 200
    again = make_run(project, code=old.code)
    assert compared(api, project, old, again).json()["reason"] == "same"


def test_code_is_compared_of_two_runs_of_one_project(project: Project, api: APIClient) -> None:
    one, two = make_run(project), make_run(project)
    elsewhere = make_run(make_project())
    assert compared(api, project, one).status_code == 400
    assert compared(api, project, one, two, make_run(project)).status_code == 400
    url = f"/api/v1/projects/{project.slug}/runs/compare/code/"
    assert api.get(url, {"runs": f"{one.pk},{elsewhere.pk}"}).status_code == 404


@pytest.mark.parametrize(
    "data", [b"no archive", archive({"a": b"\0" * 4096})], ids=["no archive", "zeros"]
)
def test_an_archive_that_is_not_what_it_says_does_no_harm(
    project: Project, api: APIClient, monkeypatch: pytest.MonkeyPatch, data: bytes
) -> None:
    monkeypatch.setattr(code_files, "_MAX_UNPACKED_BYTES", 4096)
    old, new = run_of(project, {"a.py": b"1\n"}), run_of(project, {"a.py": b"2\n"})
    assert new.code is not None
    storage.objects().put(new.code.key, data)
    assert compared(api, project, old, new).json()["reason"] == "unreadable"


def test_a_patch_that_is_too_large_is_cut_between_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "init", "-q")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "first")
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text("x = 1\n" * 50)
    monkeypatch.setattr(client_changes, "MAX_BYTES", 500)
    found = client_changes.working_changes(tmp_path, ["a.py", "b.py"])
    assert [one.path for one in split_patch(found["patch"])] == ["a.py"]
    assert found["truncated"]


def test_files_of_very_many_lines_are_not_compared_line_by_line() -> None:
    many = CodeFile("1", 9, "\n" * 5000)
    (found,) = diff_files({"a": many}, {"a": CodeFile("2", 9, "x\n")})
    assert (found.omitted, found.hunks) == ("large", "")


def test_what_is_no_patch_has_no_files() -> None:
    assert split_patch("hello\ndiff --git nothing\n") == []
