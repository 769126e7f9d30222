"""Code from git: fetched at one commit, by nobody's program but ours, from where it may."""

from __future__ import annotations

import contextlib
import io
import socket
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import paramiko
import pytest
from cryptography.fernet import Fernet
from dulwich.refs import Ref
from dulwich.repo import Repo
from rest_framework.test import APIClient

from atom.accounts.models import Project
from atom.core import clock, storage
from atom.jobs.code.actions import code_fetches
from atom.jobs.code.engines.git_addresses import parse_address
from atom.jobs.code.pipelines.git_connections import fingerprint
from atom.jobs.models import CodeFetch, CodeSnapshot, GitHost
from atom.jobs.models.code import FETCHING
from tests.factories.accounts import make_member, make_project
from tests.jobs import git_servers
from tests.jobs.asking import create
from tests.jobs.git_servers import EXECUTABLE, LINK, MODULE, REGULAR

pytestmark = pytest.mark.django_db

FETCHES = "/api/v1/projects/vision/code-fetches/"
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n"


@pytest.fixture
def repo(tmp_path: Path) -> Iterator[Repo]:
    found = git_servers.make_repo(tmp_path / "repo")
    yield found
    found.close()


@pytest.fixture
def first(repo: Repo) -> str:
    """A commit that no branch is at any more."""
    made = git_servers.commit(repo, {"train.py": (EXECUTABLE, b"print(1)\n")}, "first")
    repo.refs[Ref(b"refs/tags/v1")] = repo.refs[Ref(b"refs/heads/main")]
    files = {
        "train.py": (EXECUTABLE, b"print(2)\n"),
        "link.py": (LINK, b"train.py"),
        "weights.bin": (REGULAR, POINTER),
        "vendored": (MODULE, b""),
    }
    git_servers.commit(repo, files, "second\n\nwith a body")
    git_servers.commit(repo, {"side.py": (REGULAR, b"pass\n")}, "aside", branch="side")
    return made


@pytest.fixture
def url(repo: Repo, first: str, settings: Any) -> Iterator[str]:
    settings.ATOM_SOURCE_ALLOW = ["127.0.0.1"]
    with git_servers.http_server(repo) as address:
        yield address


def fetched(api: APIClient, **body: Any) -> Any:
    """Ask for code, have it fetched, return what is told of it."""
    made = api.post(FETCHES, body)
    assert made.status_code == 202, made.json()
    assert made.json()["state"] == "waiting"
    one = CodeFetch.objects.get(pk=made.json()["id"])
    code_fetches.run_fetch(one.pk)
    return api.get(f"{FETCHES}{one.pk}/").json()


def members_of(snapshot_id: str) -> dict[str, tarfile.TarInfo]:
    snapshot = CodeSnapshot.objects.get(pk=snapshot_id)
    data = storage.objects().get(snapshot.key)
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        return {member.name: member for member in archive}


def test_the_default_branch_becomes_a_snapshot_that_a_run_uses(api: APIClient, url: str) -> None:
    found = fetched(api, url=url)
    assert (found["state"], found["problem"]) == ("ready", None)
    assert (found["message"], found["author"]) == ("second", "Ana")
    assert (found["lfs"], found["submodules"]) == (["weights.bin"], ["vendored"])
    members = members_of(found["code_snapshot"])
    assert sorted(members) == ["link.py", "train.py", "weights.bin"]
    assert (members["train.py"].mode, members["link.py"].linkname) == (0o755, "train.py")
    run = create(api, command=["python", "train.py"], code_snapshot=found["code_snapshot"])
    git = run.json()["code"]["git"]
    assert (git["commit"], git["remote"]) == (found["commit"], url)


def test_a_branch_a_tag_and_a_commit_say_which(api: APIClient, url: str, first: str) -> None:
    assert fetched(api, url=url, ref="side")["message"] == "aside"
    assert fetched(api, url=url, ref="v1")["commit"] == first
    old = fetched(api, url=url, ref=first)
    assert (old["commit"], old["message"]) == (first, "first")
    assert list(members_of(old["code_snapshot"])) == ["train.py"]


def test_the_same_files_are_kept_once_and_show_what_was_asked_for(api: APIClient, url: str) -> None:
    once, again, by_name = (fetched(api, url=url, ref=ref) for ref in ("", "", "main"))
    assert once["code_snapshot"] == again["code_snapshot"] != by_name["code_snapshot"]
    first, named = (CodeSnapshot.objects.get(pk=one["code_snapshot"]) for one in (once, by_name))
    assert (first.key, first.sha256) == (named.key, named.sha256)
    assert first.git is not None
    assert named.git == {**first.git, "branch": "main"}


@pytest.mark.parametrize("ref", ["gone", "0123456789012345678901234567890123456789"])
def test_a_ref_that_is_not_there_is_said_with_what_is(api: APIClient, url: str, ref: str) -> None:
    found = fetched(api, url=url, ref=ref)
    assert (found["state"], found["code_snapshot"]) == ("failed", None)
    assert found["problem"]["code"] == "git_ref_not_found"
    assert ref in found["problem"]["detail"]


def test_a_token_opens_a_private_repository(
    api: APIClient, repo: Repo, first: str, settings: Any
) -> None:
    settings.ATOM_SOURCE_ALLOW = ["127.0.0.1"]
    for name, value in {"RIGHT": "token-123", "WRONG": "token-124"}.items():
        api.put(f"/api/v1/projects/vision/secrets/{name}/", {"value": value})
    with git_servers.http_server(repo, token="token-123") as url:
        assert fetched(api, url=url)["problem"]["code"] == "git_not_allowed"
        assert fetched(api, url=url, secret="WRONG")["problem"]["code"] == "git_not_allowed"
        found = fetched(api, url=url, secret="RIGHT")
    assert found["message"] == "second"
    assert "token-12" not in str(CodeFetch.objects.values())


def test_over_ssh_with_a_private_key_the_first_host_key_is_the_one(
    api: APIClient, repo: Repo, first: str, settings: Any
) -> None:
    settings.ATOM_SOURCE_ALLOW = ["127.0.0.1"]
    key, stranger = paramiko.ECDSAKey.generate(), paramiko.ECDSAKey.generate()
    texts = {
        "KEY": git_servers.private_key(key),
        "OTHER": git_servers.private_key(stranger),
        "NO_KEY": "token-123",
    }
    for name, value in texts.items():
        api.put(f"/api/v1/projects/vision/secrets/{name}/", {"value": value})
    server = git_servers.SshServer(repo, key)
    try:
        refused = api.post(FETCHES, {"url": server.address})
        assert list(refused.json()["errors"]) == ["secret"]
        for name, said in (("OTHER", "other credentials"), ("NO_KEY", "no private key")):
            problem = fetched(api, url=server.address, secret=name)["problem"]
            assert problem["code"] == "git_not_allowed"
            assert said in problem["detail"]
        found = fetched(api, url=server.address, secret="KEY", ref="side")
        assert found["message"] == "aside"
        host = GitHost.objects.get()
        assert host.key == fingerprint(server.host_key)
        server.host_key = paramiko.ECDSAKey.generate()
        changed = fetched(api, url=server.address, secret="KEY")
        assert changed["problem"]["code"] == "git_host_key_changed"
        listed = api.get("/api/v1/projects/vision/git-hosts/").json()["results"]
        assert [one["name"] for one in listed] == [host.name]
        at = f"/api/v1/projects/vision/git-hosts/{host.name}/"
        assert api.delete(at).status_code == 403
        admin = APIClient()
        admin.force_authenticate(make_member(Project.objects.get(slug="vision"), "admin"))
        assert admin.delete(at).status_code == 204
        assert fetched(api, url=server.address, secret="KEY")["state"] == "ready"
    finally:
        server.close()


def test_nothing_is_fetched_from_the_servers_own_network(api: APIClient, repo: Repo) -> None:
    with git_servers.http_server(repo) as url:
        assert fetched(api, url=url)["problem"]["code"] == "git_address_refused"


def test_a_server_that_is_no_git_server_or_is_away_is_said(
    api: APIClient, url: str, settings: Any
) -> None:
    settings.ATOM_SOURCE_ALLOW = ["127.0.0.1"]
    assert fetched(api, url=f"{url}-not")["problem"]["code"] in {"git_not_found", "git_odd"}
    problem = fetched(api, url="http://127.0.0.1:9/code")["problem"]
    assert (problem["code"], problem["detail"]) == (
        "git_away",
        "It takes no connection at this port.",
    )


def test_what_a_library_says_of_a_connection_is_not_what_people_are_told(
    api: APIClient, url: str, settings: Any
) -> None:
    settings.ATOM_SOURCE_ALLOW = ["127.0.0.1"]
    plain = fetched(api, url=url.replace("http:", "https:"))["problem"]
    assert plain["code"] == "git_tls"
    assert plain["detail"].startswith("It answers, but not with TLS")
    with closing_server() as port:
        for scheme, code in (("http", "git_away"), ("https", "git_tls")):
            problem = fetched(api, url=f"{scheme}://127.0.0.1:{port}/code")["problem"]
            assert problem["code"] == code
            assert "Pool" not in problem["detail"]
            assert "Error" not in problem["detail"]


@contextmanager
def closing_server() -> Iterator[int]:
    """A server that hangs up on everybody."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                server.accept()[0].close()

    threading.Thread(target=serve, daemon=True).start()
    yield server.getsockname()[1]
    server.shutdown(socket.SHUT_RDWR)
    server.close()


@pytest.mark.parametrize(
    "url",
    [
        "",
        "code",
        "/srv/code",
        "file:///srv/code",
        "ext::sh -c id",
        "https://",
        "https://host/",
        "https://user:word@host/code",
        "https://token@host/code",
        "https://host/code?x=1",
        "https://host:port/code",
        "git@host:",
        "a b",
        "https://host/" + "c" * 1000,
    ],
)
def test_what_is_no_address_of_a_repository_is_refused(api: APIClient, url: str) -> None:
    answer = api.post(FETCHES, {"url": url})
    assert answer.status_code == 400
    assert list(answer.json()["errors"]) == ["url"]
    assert not CodeFetch.objects.exists()


def test_addresses_as_people_write_them() -> None:
    scp = parse_address("git@github.com:org/repo.git")
    assert (scp.url, scp.host, scp.is_ssh) == (
        "ssh://git@github.com/org/repo.git",
        "github.com",
        True,
    )
    assert parse_address("ssh://git@host:2222/repo").host == "host:2222"
    assert not parse_address("https://host/repo").is_ssh


def test_work_that_a_worker_died_at_is_taken_up_again(
    api: APIClient, url: str, django_capture_on_commit_callbacks: Any, monkeypatch: Any
) -> None:
    api.post(FETCHES, {"url": url})
    one = CodeFetch.objects.get()
    one.state, one.claimed_until = FETCHING, clock.now() + timedelta(minutes=1)
    one.save()
    code_fetches.run_fetch(one.pk)
    one.refresh_from_db()
    assert one.state == FETCHING, "somebody else is at it"
    CodeFetch.objects.update(claimed_until=clock.now() - timedelta(seconds=1))
    with django_capture_on_commit_callbacks() as sent:
        code_fetches.resume_fetches()
    assert len(sent) == 1
    code_fetches.run_fetch(one.pk)
    one.refresh_from_db()
    assert one.state == "ready"


def test_a_secret_that_cannot_be_read_ends_the_fetch_in_words(
    api: APIClient, settings: Any
) -> None:
    api.put("/api/v1/projects/vision/secrets/TOKEN/", {"value": "token-123"})
    settings.ATOM_ENCRYPTION_KEY = Fernet.generate_key().decode()
    found = fetched(api, url="https://host/code", secret="TOKEN")
    assert (found["state"], found["problem"]["code"]) == ("failed", "git_secret_missing")
    assert "TOKEN" in found["problem"]["detail"]


def test_a_fetch_that_never_comes_to_an_end_is_given_up(api: APIClient, project: Project) -> None:
    """It would take a place of the project's for ever."""
    lapsed, held = (clock.now() + timedelta(minutes=minutes) for minutes in (-1, 1))
    stuck, young, under_way = (
        CodeFetch.objects.create(
            project=project, url="https://host/code", state=FETCHING, claimed_until=until
        )
        for until in (lapsed, lapsed, held)
    )
    old = CodeFetch.objects.filter(pk__in=[stuck.pk, under_way.pk])
    old.update(created_at=clock.now() - code_fetches.LONGEST - timedelta(minutes=1))
    code_fetches.resume_fetches()
    found = api.get(f"{FETCHES}{stuck.pk}/").json()
    assert (found["state"], found["problem"]["code"]) == ("failed", "git_timeout")
    assert set(CodeFetch.objects.filter(state=FETCHING)) == {young, under_way}


def test_a_project_fetches_so_much_at_once(api: APIClient, project: Project) -> None:
    CodeFetch.objects.bulk_create(
        CodeFetch(project=project, url="https://host/code") for _ in range(code_fetches.MAX_OPEN)
    )
    assert api.post(FETCHES, {"url": "https://host/code"}).json()["code"] == "code_fetches_many"


def test_who_may_not_start_runs_fetches_nothing(api: APIClient, project: Project) -> None:
    viewer, stranger = APIClient(), APIClient()
    viewer.force_authenticate(make_member(project, "viewer"))
    stranger.force_authenticate(make_member(make_project("elsewhere"), "admin"))
    for client, status in ((viewer, 403), (stranger, 404)):
        assert client.get(FETCHES).status_code == status
        assert client.post(FETCHES, {"url": "https://host/code"}).status_code == status
