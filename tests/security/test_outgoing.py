"""Every door through which a person's address leads out, tried with addresses that lead in.

No door may open a connection, and each says why. The table has the doors; what a name resolves to
and where an answer sends us are tried at all of them as well.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from dulwich.repo import MemoryRepo
from rest_framework.test import APIClient

from atom.core.errors import AtomError
from atom.datasets.source_spec import Credentials, SourceSpec
from atom.datasets.sources.pipelines.azure import AzureReader
from atom.datasets.sources.pipelines.gcs import GcsReader
from atom.datasets.sources.pipelines.hdfs import HdfsReader
from atom.datasets.sources.pipelines.http_list import HttpListReader
from atom.datasets.sources.pipelines.objects import Shard, SourceReader
from atom.datasets.sources.pipelines.patience import Patience
from atom.datasets.sources.pipelines.s3 import S3Reader
from atom.jobs.code.actions import code_fetches
from atom.jobs.code.pipelines import git_child
from atom.jobs.code.pipelines.git_connections import SshVendor
from atom.jobs.models import CodeFetch
from atom.webhooks.pipelines.sending import Letter, send
from atom_sdk.errors import AtomError as SdkError
from atom_sdk.importers.downloads import DownloadLimits, Downloads
from atom_sdk.importers.report import Report
from atom_sdk.manifests.pins import Pin
from atom_sdk.public_hosts import AddressRefusedError, check_public_url, public_addresses
from tests.datasets.clouds import Reply, SeenRequest, Served
from tests.factories.accounts import make_member, make_project

QUICK = Patience(tries=2, first_wait_s=0.01, longest_asked_s=0.01)
# Each is this machine, its network or the host below it, or says that it is.
INNER = (
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f000001",
    "0x7f.0.0.1",
    "017700000001",
    "0177.0.0.01",
    "0",
    "0.0.0.0",
    "localhost",
    "localhost.",
    "LOCALHOST",
    "①②⑦.⓪.⓪.①",
    "127。0。0。1",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "100.64.0.1",
    "100.100.100.200",
    "169.254.169.254",
    "168.63.129.16",
    "192.0.0.192",
    "198.18.0.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "[::]",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[::127.0.0.1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:a9fe:a9fe]",
    "[::ffff:0:127.0.0.1]",
    "[64:ff9b::127.0.0.1]",
    "[64:ff9b:1::1]",
    "[2002:7f00:1::]",
    "[2001:0:7f00:1::]",
    "[2001:db8::1]",
    "[fe80::1]",
    "[fec0::1]",
    "[fd00:ec2::254]",
    "[ff02::1]",
)
# These look like a public host to one reader of the address and like an inner one to another.
TRICKS = (
    "http://93.184.216.34@127.0.0.1/",
    "http://127.0.0.1@93.184.216.34/",
    "http://127.0.0.1#@93.184.216.34/",
    "http://127.0.0.1\\@93.184.216.34/",
    "http://93.184.216.34\\@127.0.0.1/",
    "http://93.184.216.34:80@127.0.0.1:80/",
    "http://127.0.0.1:80#:93.184.216.34/",
    "http://[::1",
    "http://127.0.0.1:99999/",
    "http://127.0.0.1%2f@93.184.216.34/",
    "http://127.0.0.1\t/",
    "http://\n127.0.0.1/",
    "http:127.0.0.1/",
    "//127.0.0.1/",
    "file:///etc/passwd",
    "gopher://127.0.0.1:6379/_FLUSHALL",
    "dict://127.0.0.1:6379/",
)


@pytest.fixture
def connected(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Where this process would connect to; it may, on this machine."""
    found: list[Any] = []
    real = socket.socket.connect

    def connect(self: socket.socket, address: Any) -> None:
        found.append(address)
        if address[0] not in {"127.0.0.1", "localhost"}:
            raise OSError("a test stays on its machine")
        real(self, address)

    monkeypatch.setattr(socket.socket, "connect", connect)
    return found


def _read(reader: SourceReader) -> None:
    for page in reader.pages(Shard(""), ""):
        for one in page:
            reader.read(Pin("s", one.key, one.size_bytes, None, one.etag, one.mtime), 0, 1)


def by_list(url: str, allowed: list[str]) -> None:
    _read(HttpListReader(SourceSpec("s", f"{url}list.txt"), allowed, QUICK))


def by_bucket(url: str, allowed: list[str]) -> None:
    _read(S3Reader(SourceSpec("s", "s3://bucket", url), allowed, QUICK))


def by_container(url: str, allowed: list[str]) -> None:
    _read(AzureReader(SourceSpec("s", "az://acct/data", url), allowed, QUICK))


def by_google(url: str, allowed: list[str]) -> None:
    _read(GcsReader(SourceSpec("s", "gs://data", url), allowed, QUICK))


_PEM = (
    rsa.generate_private_key(65537, 2048)
    .private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    .decode()
)


def by_token_address(url: str, allowed: list[str]) -> None:
    """The key of a service account says where its tokens are made."""
    account = {"client_email": "a@b", "private_key": _PEM, "token_uri": url}
    keys = Credentials(service_account=json.dumps(account))
    spec = SourceSpec("s", "gs://data", "http://93.184.216.34", credentials=keys)
    _read(GcsReader(spec, allowed, QUICK))


def by_name_node(url: str, allowed: list[str]) -> None:
    _read(HdfsReader(SourceSpec("s", url.replace("http", "webhdfs", 1)), allowed, QUICK))


def by_webhook(url: str, allowed: list[str]) -> None:
    outcome = send(Letter("1", "run.failed", url, b"{}", ("s",), 1), allowed)
    assert outcome.status_code is None or 300 <= outcome.status_code < 400
    raise _Refused(outcome.error)


def by_git(url: str, allowed: list[str], scheme: str = "http") -> None:
    request = {
        "url": url.replace("http", scheme, 1) + "code.git",
        "ref": "",
        "archive": "/nowhere/code.tar.gz",
        "secret": "",
        "username": "",
        "host_key": "",
        "allowed": allowed,
    }
    vendor = SshVendor("", "", allowed)
    with closing(MemoryRepo()) as repo:
        git_child._fetched(repo, request, vendor)  # type: ignore[arg-type]  # as much of one


def by_csv(url: str, allowed: list[str]) -> None:
    report = Report("list.csv")
    with Downloads(Path("/nowhere"), DownloadLimits(allowed_hosts=allowed), report) as downloads:
        assert downloads.fetch(f"{url}a.png") is None
        raise _Refused(downloads.refusal(f"{url}a.png")[1])


class _Refused(Exception):
    """Raised for a door that answers with a refusal."""


Door = Callable[[str, list[str]], None]
DOORS: dict[str, Door] = {
    "list": by_list,
    "bucket": by_bucket,
    "container": by_container,
    "google": by_google,
    "token address": by_token_address,
    "name node": by_name_node,
    "webhook": by_webhook,
    "git over http": by_git,
    "git over ssh": partial(by_git, scheme="ssh"),
    "csv": by_csv,
}
EVERY_DOOR = pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)
REFUSALS = (AtomError, SdkError, git_child.FetchError, _Refused)


def _is_refused(host: str) -> bool:
    try:
        public_addresses(host.strip("[]"), 80, [])
    except AddressRefusedError:
        return True
    return False


def test_no_writing_of_an_inner_address_passes_for_a_public_one() -> None:
    assert [host for host in INNER if not _is_refused(host)] == []


@EVERY_DOOR
def test_no_door_leads_to_an_inner_address(door: Door, connected: list[Any]) -> None:
    let_in = []
    for host in ("127.0.0.1", "2130706433", "[::ffff:127.0.0.1]", "169.254.169.254"):
        with pytest.raises(REFUSALS) as refused:
            door(f"http://{host}:9/", [])
        said = str(refused.value)
        if "not public" not in said and "no host" not in said:
            let_in.append((host, said))
    assert (let_in, connected) == ([], [])


@EVERY_DOOR
def test_a_name_is_what_it_resolves_to_at_the_moment_of_connecting(
    door: Door, connected: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def resolve(host: str, port: int, *_: Any, **__: Any) -> list[Any]:
        # Public at first, as a name server under somebody's control would answer.
        asked.append(host)
        inner = ["127.0.0.1", "::ffff:169.254.169.254"]
        ends = ["93.184.216.34", *(inner if len(asked) > looks else [])]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (end, port)) for end in ends]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    # A door that looks before it connects is passed by the first answer; the second must not do.
    looks = 0
    with pytest.raises(REFUSALS, match="not public"):
        door("http://two-faced.example:9/", [])
    asked.clear()
    looks = 1
    if door in (by_list, by_bucket, by_container, by_google, by_name_node, by_csv):
        with pytest.raises(REFUSALS, match="not public"):
            door("http://two-faced.example:9/", [])
        assert len(asked) == 2
    assert connected == []


@pytest.fixture
def sending() -> Iterator[Served]:
    """A server that may be asked, and sends whoever asks to another that may not."""
    served = Served(lambda asked: Reply(404))
    yield served
    served.close()


# SSH has no redirects; the address of tokens is asked as every address of a source is.
LEADS = {name: DOORS[name] for name in DOORS if name not in {"git over ssh", "token address"}}


@pytest.mark.parametrize("door", LEADS.values(), ids=LEADS)
@pytest.mark.parametrize("status", [301, 307])
def test_nobody_is_sent_to_an_inner_address(
    door: Door, status: int, sending: Served, connected: list[Any]
) -> None:
    place = "http://127.0.0.2:9/to?/info/refs?service=git-upload-pack"

    def lead(asked: SeenRequest) -> Reply:
        return Reply(status, b"", {"Location": place, "x-amz-bucket-region": "eu-west-1"})

    sending.trouble = lead
    with pytest.raises(REFUSALS):
        door(f"{sending.url}/", ["127.0.0.1"])
    assert {address[0] for address in connected} == {"127.0.0.1"}


@pytest.mark.parametrize("url", TRICKS)
def test_an_address_that_can_be_read_in_two_ways_is_none(url: str, connected: list[Any]) -> None:
    with pytest.raises(SdkError) as refused:
        check_public_url(url, [])
    assert getattr(refused.value, "code", "") == "address_refused"
    with pytest.raises(_Refused):
        by_csv(url, [])
    assert connected == []


@pytest.mark.parametrize("host", ["93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946"])
def test_public_addresses_are_open(host: str) -> None:
    assert public_addresses(host, 443, []) == [host]


@pytest.mark.parametrize("location", ["http://[::1", "//\x7f", "http://a:b:c/"])
def test_a_place_that_nobody_can_go_to_is_told(location: str, sending: Served) -> None:
    """A data node, a redirect of a download, a line of a list: other people's text."""
    sending.trouble = lambda asked: Reply(307, b"", {"Location": location})
    for door in (by_name_node, by_csv):
        with pytest.raises(REFUSALS):
            door(f"{sending.url}/", ["127.0.0.1"])
    sending.trouble = lambda asked: Reply(200, location.encode())
    with pytest.raises(AtomError, match="Line 1"):
        by_list(f"{sending.url}/", ["127.0.0.1"])


@pytest.mark.parametrize(
    ("headers", "body", "said"),
    [
        ({}, b"x" * 100_000, "does not end"),
        ({"Content-Encoding": "gzip"}, b"x", "compressed"),
        ({"Content-Type": "text/plain; charset=zlib"}, b"\xff\xfe\n", "UTF-8"),
    ],
)
def test_a_list_that_would_fill_the_memory_is_left(
    sending: Served, headers: dict[str, str], body: bytes, said: str
) -> None:
    sending.trouble = lambda asked: Reply(200, body, headers)
    with pytest.raises(AtomError, match=said):
        by_list(f"{sending.url}/", ["127.0.0.1"])


@pytest.mark.django_db
def test_the_api_says_which_address_it_refused_and_keeps_nothing(connected: list[Any]) -> None:
    api = APIClient()
    api.force_authenticate(make_member(make_project("vision"), "admin"))
    place = "http://[::ffff:127.0.0.1]:9/"
    source = {"name": "s", "dataset": "d"}
    bodies = (
        {"url": f"{place}list.txt"},
        {"url": "s3://bucket", "endpoint": place},
        {"url": "az://acct/data", "endpoint": place},
        {"url": "gs://data", "endpoint": place},
        {"url": place.replace("http", "webhdfs")},
    )
    for body in bodies:
        answer = api.post("/api/v1/projects/vision/sources/", {**source, **body})
        assert (answer.status_code, answer.json()["code"]) == (400, "source_address_refused"), body
    assert api.get("/api/v1/projects/vision/sources/").json()["results"] == []
    hook = {"name": "h", "url": place, "events": ["run.failed"]}
    answer = api.post("/api/v1/projects/vision/webhooks/", hook)
    assert (answer.status_code, list(answer.json()["errors"])) == (400, ["url"])
    made = api.post("/api/v1/projects/vision/code-fetches/", {"url": f"{place}code.git"}).json()
    code_fetches.run_fetch(CodeFetch.objects.get(pk=made["id"]).pk)
    told = api.get(f"/api/v1/projects/vision/code-fetches/{made['id']}/").json()
    assert told["problem"]["code"] == "git_address_refused"
    assert [address for address in connected if address[1] == 9] == []
