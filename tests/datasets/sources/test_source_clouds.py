"""Azure Blob, Google Cloud Storage and HDFS as sources: the pinned bytes, or an error in words."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from obstore.exceptions import GenericError
from obstore.store import AzureStore

from atom.core.errors import Invalid
from atom.datasets.source_spec import Credentials, SourceSpec, check_spec
from atom.datasets.sources.errors import (
    SourceAddressRefused,
    SourceAway,
    SourceChanged,
    SourceDenied,
    SourceError,
    SourceOdd,
    SourceThrottled,
)
from atom.datasets.sources.pipelines.azure import AzureReader
from atom.datasets.sources.pipelines.azure_keys import string_to_sign
from atom.datasets.sources.pipelines.gcs import GcsReader
from atom.datasets.sources.pipelines.hdfs import HdfsReader
from atom.datasets.sources.pipelines.objects import Shard, SourceObject, SourceReader
from atom.datasets.sources.pipelines.patience import Patience
from atom_sdk.cli.context import Context
from atom_sdk.cli.main import cli
from atom_sdk.client import Client
from atom_sdk.manifests.pins import Pin
from tests.datasets.clouds import FakeAzure, FakeGoogle, FakeHdfs, Reply, SeenRequest, Served, Store
from tests.datasets.pushing import Pusher

FILES = {"in/a-b.txt": b"1", "in/a/c d+ü.txt": b"22", "in/a/d/e&.txt": b"333", "in/z.txt": b"4444"}
ACCOUNT_KEY = base64.b64encode(b"a very secret key of an account").decode()
LOCAL = ["127.0.0.0/8"]
QUICK = Patience(tries=3, first_wait_s=0.01, longest_asked_s=0.01)
KEY = rsa.generate_private_key(65537, 2048)
PEM = KEY.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


@dataclass
class Cloud:
    """A remote service, and how to open it: with the addresses that are allowed."""

    store: Store
    served: Served
    spec: SourceSpec
    reader: Callable[..., SourceReader]
    secrets: tuple[str, ...]

    def open(self, patience: Patience = QUICK) -> SourceReader:
        check_spec(self.spec)
        return self.reader(self.spec, LOCAL, patience)


def azure(credentials: Credentials) -> Cloud:
    store = FakeAzure(FILES)
    served = Served(store.answer)
    spec = SourceSpec("s", "az://acct/data/in", f"{served.url}/acct", credentials=credentials)
    return Cloud(store, served, spec, AzureReader, (ACCOUNT_KEY, "s+/=", "s%2B%2F%3D"))


def google() -> Cloud:
    store = FakeGoogle(FILES, KEY)
    served = Served(store.answer)
    account = {"client_email": "me@x", "private_key": PEM, "token_uri": f"{served.url}/token"}
    keys = Credentials(service_account=json.dumps(account))
    spec = SourceSpec("s", "gs://data/in", served.url, credentials=keys)
    return Cloud(store, served, spec, GcsReader, (PEM[100:140], "of-google"))


def hdfs() -> Cloud:
    store = FakeHdfs(FILES)
    served, data_node = Served(store.answer), Served(store.data)
    store.data_node = data_node.url
    url = served.url.replace("http", "webhdfs") + "/lake/in"
    spec = SourceSpec("s", url, credentials=Credentials(hdfs_user="ann"))
    return Cloud(store, served, spec, HdfsReader, ())


MAKERS = {
    "azure key": lambda: azure(Credentials(account_key=ACCOUNT_KEY)),
    "azure sas": lambda: azure(Credentials(sas_token="?sv=2021&sig=s%2B%2F%3D")),
    "gcs": google,
    "hdfs": hdfs,
}


@pytest.fixture(params=list(MAKERS))
def cloud(request: pytest.FixtureRequest) -> Iterator[Cloud]:
    made = MAKERS[request.param]()
    yield made
    made.served.close()


def listed(reader: SourceReader, shard: Shard, after: str = "") -> list[SourceObject]:
    return [found for page in reader.pages(shard, after) for found in page]


def pin_of(found: SourceObject) -> Pin:
    return Pin("s", found.key, found.size_bytes, found.version_id, found.etag, found.mtime)


def test_a_place_is_listed_from_anywhere_and_read_in_parts(cloud: Cloud) -> None:
    reader = cloud.open()
    found = listed(reader, Shard(""))
    expected = [(path.removeprefix("in/"), len(data)) for path, data in sorted(FILES.items())]
    assert [(one.key, one.size_bytes) for one in found] == expected
    assert [one.key for one in listed(reader, Shard(""), "a/c d+ü.txt")] == ["a/d/e&.txt", "z.txt"]
    assert [one.key for one in listed(reader, Shard("", is_deep=False))] == ["a-b.txt", "z.txt"]
    assert reader.folders("") == ["a/"]
    assert [one.key for one in listed(reader, Shard("a/d/"))] == ["a/d/e&.txt"]
    assert [reader.read(pin_of(one), 0, one.size_bytes) for one in found] == [
        data for _, data in sorted(FILES.items())
    ]
    assert reader.read(pin_of(found[3]), 1, 3) == b"44"
    assert reader.read(pin_of(found[3]), 2, 2) == b""


@pytest.mark.parametrize("change", ["same size", "longer", "gone"])
def test_an_object_that_changed_is_named_and_not_read(cloud: Cloud, change: str) -> None:
    reader = cloud.open()
    pin = pin_of(listed(reader, Shard(""))[3])
    if change == "gone":
        del cloud.store.files["in/z.txt"]
    else:
        cloud.store.put("in/z.txt", b"5555" if change == "same size" else b"55555")
    with pytest.raises(SourceChanged, match=r"'z\.txt'"):
        reader.read(pin, 0, 4)


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (Reply(403), SourceDenied),
        (Reply(503, headers={"Retry-After": "1"}), SourceThrottled),
        (Reply(500), SourceAway),
        (Reply(302, headers={"Location": "http://127.0.0.1:1/"}), SourceOdd),
        (Reply(200, b"<html>"), SourceOdd),
        (Reply(200, b"[1, 2]"), SourceOdd),
        (Reply(200, b'{"items": [1], "DirectoryListing": 1}'), SourceOdd),
    ],
)
def test_every_answer_that_is_no_listing_has_words_and_shows_no_secret(
    cloud: Cloud, reply: Reply, error: type[SourceError], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    reader = cloud.open()
    cloud.served.trouble = lambda asked: None if asked.path == "/token" else reply
    with pytest.raises(error) as failed:
        listed(reader, Shard(""))
    told = f"{failed.value.as_problem()} {reader!r} {cloud.spec!r}"
    # Every installation turns httpx's lines about addresses at INFO off.
    told += " ".join(one.getMessage() for one in caplog.records if one.name != "httpx")
    assert not [secret for secret in cloud.secrets if secret in told]


def test_throttling_is_waited_out_as_long_as_the_source_asks(cloud: Cloud) -> None:
    refusals = iter([Reply(503, headers={"Retry-After": "1"}), Reply(429)])
    cloud.served.trouble = lambda asked: next(refusals, None)
    waits: list[float] = []

    class Patient(Patience):
        def _wait_s(self, number: int, asked_s: float) -> float:
            waits.append(asked_s)
            return 0.0

    # A token is asked for once: who throttles it ends the scan, which goes on later.
    reader = cloud.open(Patient(tries=3))
    if cloud.spec.kind == "gcs":
        refusals = iter([])
        reader.folders("")
        refusals = iter([Reply(503, headers={"Retry-After": "1"}), Reply(429)])
    assert len(listed(reader, Shard(""))) == 4
    assert waits == [1.0, 0.0]


def test_wrong_credentials_are_refused_in_words(cloud: Cloud) -> None:
    anonymous = SourceSpec("s", cloud.spec.url, cloud.spec.endpoint)
    with pytest.raises(SourceDenied):
        listed(cloud.reader(anonymous, LOCAL, QUICK), Shard(""))


def test_no_place_is_reached_that_is_not_allowed(cloud: Cloud) -> None:
    with pytest.raises(SourceAddressRefused):
        cloud.reader(cloud.spec, [], QUICK)
    assert cloud.served.seen == []


def test_a_data_node_that_is_not_allowed_gets_no_connection() -> None:
    cloud = hdfs()
    reader = cloud.open()
    pin = pin_of(listed(reader, Shard(""))[3])
    assert isinstance(cloud.store, FakeHdfs)
    cloud.store.data_node = "http://10.255.255.1:1"
    with pytest.raises(SourceAddressRefused):
        reader.read(pin, 0, 4)
    cloud.served.close()


def test_a_stand_by_name_node_is_waited_for() -> None:
    cloud = hdfs()
    body = json.dumps({"RemoteException": {"exception": "StandbyException"}}).encode()
    answers = iter([Reply(403, body)])
    cloud.served.trouble = lambda asked: next(answers, None)
    assert len(listed(cloud.open(), Shard(""))) == 4
    cloud.served.close()


def test_a_shared_key_signs_as_another_client_does() -> None:
    cloud = MAKERS["azure key"]()
    cloud.served.trouble = lambda asked: Reply(404)
    store = AzureStore(
        account_name="acct",
        container_name="data",
        account_key=ACCOUNT_KEY,
        endpoint=f"{cloud.served.url}/acct",
        client_options={"allow_http": True},
    )
    with pytest.raises(FileNotFoundError):
        store.get_range("in/a/c d+ü.txt", start=1, length=1)
    with pytest.raises(GenericError):
        store.list("in/a b").collect()
    assert len(cloud.served.seen) == 2
    for asked in cloud.served.seen:
        signature = asked.headers["authorization"].partition(":")[2]
        assert _signature(asked, cloud.served.url) == signature
    cloud.served.close()


def _signature(asked: SeenRequest, base: str) -> str:
    headers = dict(asked.headers)
    request = httpx.Request(asked.method, base + asked.target, headers=headers)
    text = string_to_sign(request, "acct").encode()
    digest = hmac.new(base64.b64decode(ACCOUNT_KEY), text, hashlib.sha256).digest()
    return base64.b64encode(digest).decode()


@pytest.mark.parametrize(
    ("url", "endpoint", "keys", "field"),
    [
        ("az://Bad/data", "", {}, "url"),
        ("az://acct", "", {}, "url"),
        ("gs://-/x", "", {}, "url"),
        ("webhdfs://host/x", "", {}, "url"),
        ("webhdfs://host:99999/x", "", {}, "url"),
        ("az://acct/data", "", {"session_token": "a"}, "session_token"),
        ("s3://data", "", {"service_account": "{}"}, "service_account"),
        ("az://acct/data", "", {"account_key": "YQ==", "sas_token": "sig=x"}, "sas_token"),
        ("webhdfs://host:1/x", "https://x", {}, "endpoint"),
    ],
)
def test_a_field_that_cannot_be_right_is_named(
    url: str, endpoint: str, keys: dict[str, str], field: str
) -> None:
    with pytest.raises(Invalid) as failed:
        check_spec(SourceSpec("s", url, endpoint, credentials=Credentials(**keys)))
    assert list(failed.value.errors) == [field]


@pytest.mark.parametrize(
    ("url", "keys", "field"),
    [
        ("az://acct/data", {"account_key": "no base64!"}, "account_key"),
        ("az://acct/data", {"sas_token": "sv=1"}, "sas_token"),
        ("gs://data", {"service_account": "secret"}, "service_account"),
        ("gs://data", {"service_account": '{"private_key": "secret"}'}, "service_account"),
        ("webhdfs://127.0.0.1:1/a/../b", {}, "url"),
    ],
)
def test_a_key_that_is_none_is_refused_without_quoting_it(
    url: str, keys: dict[str, str], field: str
) -> None:
    readers = {"az": AzureReader, "gs": GcsReader, "webhdfs": HdfsReader}
    spec = SourceSpec("s", url, "http://127.0.0.1:1", credentials=Credentials(**keys))
    with pytest.raises(Invalid) as failed:
        readers[url.partition(":")[0]](spec, LOCAL, QUICK)
    assert list(failed.value.errors) == [field]
    assert "secret" not in str(failed.value.as_problem())
    assert failed.value.__cause__ is None or "secret" not in str(failed.value.__cause__)


def test_each_kind_is_added_and_scanned_by_the_command(
    client: Client, pusher: Pusher, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.ATOM_SOURCE_ALLOW = LOCAL
    runner, context = CliRunner(), Context()
    context._client = client
    account = tmp_path / "key.json"
    kinds = {"azure": azure(Credentials(account_key=ACCOUNT_KEY)), "gcs": google(), "hdfs": hdfs()}
    account.write_text(kinds["gcs"].spec.credentials.service_account)
    monkeypatch.setenv("ATOM_SOURCE_ACCOUNT_KEY", ACCOUNT_KEY)
    options = {"gcs": ["--service-account", str(account)], "hdfs": ["--hdfs-user", "ann"]}
    for kind, cloud in kinds.items():
        endpoint = ["--endpoint", cloud.spec.endpoint] if cloud.spec.endpoint else []
        words = ["source", "add", kind, cloud.spec.url, "--to", f"of-{kind}", "--json", *endpoint]
        added = runner.invoke(cli, [*words, *options.get(kind, [])], obj=context)
        assert added.exit_code == 0, added.output
        told = added.output + str(client.sources.get(kind))
        assert json.loads(added.stdout)["kind"] == kind
        assert not [secret for secret in (ACCOUNT_KEY, PEM[100:140]) if secret in told]
        scanned = runner.invoke(cli, ["source", "scan", kind, "--json"], obj=context)
        assert json.loads(scanned.stdout)["objects_count"] == len(FILES), scanned.output
        cloud.served.close()
    gone = runner.invoke(cli, [*words, *options["hdfs"]], obj=context)
    assert getattr(gone.exception, "code", "") == "source_away", gone.output
    assert [row["name"] for row in client.sources.list()] == ["hdfs", "gcs", "azure"]
    refused = runner.invoke(cli, ["source", "add", "x", "gs://data", "--to", "x"], obj=context)
    assert (refused.exit_code, "--service-account" in refused.output) == (2, True)
