"""Connections to an API server, over real sockets and certificates made for each test."""

from __future__ import annotations

import os
import socket
import ssl
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from kubernetes.client import CoreV1Api, V1Pod

from atom.clusters.kubernetes.connection import ClusterConnection, Limits
from atom.clusters.kubernetes.errors import (
    ClusterAddressForbidden,
    ClusterAddressRefused,
    ClusterAnswerWrong,
    ClusterCertificateWrong,
    ClusterFails,
    ClusterFailure,
    ClusterForbids,
    ClusterRefusesCredentials,
    ClusterTooSlow,
    ClusterUnreachable,
)
from atom.clusters.kubernetes.kubeconfig import parse_kubeconfig
from atom.core import clock
from atom.core.errors import AtomError
from atom_sdk.sentences import Sentence
from tests.clusters.api_server import (
    TOKEN,
    ApiServer,
    Authority,
    Reply,
    Seen,
    api_server,
    encoded,
    kubeconfig,
)

# A certificate's dates are compared with the database's clock.
pytestmark = pytest.mark.django_db

HERE = ("127.0.0.0/8",)
VERSION = {"major": "1", "minor": "36", "gitVersion": "v1.36.1"}
Serve = Callable[..., ApiServer]


def answer_version(_: Seen) -> Reply:
    return Reply(body=VERSION)


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Start a server that answers its version, unless told otherwise."""
    with ExitStack() as stack:

        def start(answers: Callable[[Seen], Reply] = answer_version, **options: Any) -> ApiServer:
            return stack.enter_context(api_server(answers, tmp_path, **options))

        yield start


def ask(text: str, limits: Limits | None = None, networks: tuple[str, ...] = HERE) -> Any:
    """Return what `/version` answers."""
    with ClusterConnection(parse_kubeconfig(text), networks, limits) as cluster:
        return cluster.get("/version").body


def code_of(error: AtomError) -> str:
    assert isinstance(error.detail, Sentence)
    return str(error.detail.code)


def test_the_token_goes_to_the_server_that_the_authority_vouches_for(serve: Serve) -> None:
    server = serve()

    assert ask(server.kubeconfig()) == VERSION

    assert server.seen[0].headers["Authorization"] == f"Bearer {TOKEN}"
    assert server.seen[0].headers["Host"] == server.url.removeprefix("https://")


def test_the_name_is_what_tls_means_and_the_address_is_what_was_checked(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = Authority()
    server = serve(authority=authority, pair=authority.pair("k8s.example"))
    port = server.url.rsplit(":", 1)[1]
    asked: list[str] = []
    of_others = socket.getaddrinfo

    def resolve(host: str, port: int, *rest: Any, **options: Any) -> list[Any]:
        if host != "k8s.example":
            # Connections of the rest of this process.
            return [*of_others(host, port, *rest, **options)]
        # The name server is a stranger's: its second answer leads to the machine's metadata.
        asked.append(host)
        end = "127.0.0.1" if len(asked) == 1 else "169.254.169.254"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (end, port))]

    real = socket.create_connection
    ends: list[str] = []

    def connect(address: tuple[str, int], *rest: Any, **options: Any) -> socket.socket:
        ends.append(address[0])
        # Addresses are numbers by now; the system resolves them without asking anybody.
        monkeypatch.undo()
        return real(address, *rest, **options)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    text = kubeconfig(f"https://k8s.example:{port}", authority.pem)
    with ClusterConnection(parse_kubeconfig(text), HERE) as cluster:
        assert cluster.addresses == ["127.0.0.1"]
        monkeypatch.setattr(socket, "create_connection", connect)
        assert cluster.get("/version").body == VERSION

    assert (asked, ends) == (["k8s.example"], ["127.0.0.1"])
    assert server.seen[0].sni == "k8s.example"
    assert server.seen[0].headers["Host"] == f"k8s.example:{port}"


def test_a_name_that_changes_to_a_forbidden_address_is_refused_at_the_next_connection(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends = ["127.0.0.1", "169.254.169.254"]
    of_others = socket.getaddrinfo

    def resolve(host: str, port: int, *rest: Any, **options: Any) -> list[Any]:
        if host != "k8s.example":
            # Connections of the rest of this process.
            return [*of_others(host, port, *rest, **options)]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (ends.pop(0), port))]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    access = parse_kubeconfig(kubeconfig("https://k8s.example", serve().authority.pem))
    ClusterConnection(access, HERE).close()
    with pytest.raises(ClusterAddressRefused, match=r"169\.254\.169\.254"):
        ClusterConnection(access, HERE)


@pytest.mark.parametrize(
    "host",
    [
        "169.254.169.254", "[fe80::1]", "[::ffff:169.254.169.254]", "168.63.129.16", "192.0.0.192",
        "100.100.100.200", "[fd00:ec2::254]", "[64:ff9b::a9fe:a9fe]", "0.0.0.0", "224.0.0.1",
        "255.255.255.255", "[::]", "[2002:a9fe:a9fe::1]",
    ],
)  # fmt: skip
def test_metadata_and_link_local_addresses_are_closed_even_where_listed(host: str) -> None:
    text = kubeconfig(f"https://{host}", Authority().pem)
    for networks in ((), ("0.0.0.0/0", "::/0")):
        with pytest.raises(ClusterAddressForbidden) as refused:
            ask(text, networks=networks)
        assert code_of(refused.value) == "address.never"
        # No setting opens it, so that none is suggested.
        assert "ATOM_CLUSTER_NETWORKS" not in refused.value.action


@pytest.mark.parametrize(
    ("host", "network"),
    [
        ("127.0.0.1", "127.0.0.0/8"),
        ("10.1.2.3", "10.1.0.0/16"),
        ("[::1]", "::1"),
        ("[fd12::1]", "fd12::/16"),
        ("[::ffff:10.1.2.3]", "10.1.0.0/16"),
    ],
)
def test_private_addresses_are_open_only_where_listed(host: str, network: str) -> None:
    access = parse_kubeconfig(kubeconfig(f"https://{host}:9", Authority().pem))
    with pytest.raises(ClusterAddressRefused) as refused:
        ClusterConnection(access, ("10.2.0.0/16",))
    assert code_of(refused.value) == "address.not_listed"
    ClusterConnection(access, (network,)).close()


def test_no_proxy_of_the_environment_is_used(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert ask(serve().kubeconfig()) == VERSION


def test_redirects_are_not_followed(serve: Serve) -> None:
    other = serve()
    place = f"{other.url}/version"
    server = serve(lambda _: Reply(302, {}, {"Location": place}), authority=other.authority)

    with pytest.raises(ClusterAnswerWrong) as wrong:
        ask(server.kubeconfig())

    assert code_of(wrong.value) == "clusters.answer_redirects"
    assert other.seen == []


@pytest.mark.parametrize(
    ("pair", "code"),
    [
        ({"after": timedelta(hours=-1)}, "clusters.certificate_expired"),
        ({"before": timedelta(hours=-1)}, "clusters.certificate_not_yet_valid"),
        ({"host": "other.example"}, "clusters.certificate_other_host"),
        ({"stranger": True}, "clusters.certificate_unknown_authority"),
    ],
)
def test_a_server_with_a_wrong_certificate_gets_no_token(
    serve: Serve, pair: dict[str, Any], code: str
) -> None:
    authority = Authority()
    signer = Authority() if pair.pop("stranger", False) else authority
    host = pair.pop("host", "127.0.0.1")
    server = serve(authority=authority, pair=signer.pair(host, **pair))

    with pytest.raises(ClusterCertificateWrong) as wrong:
        ask(server.kubeconfig())

    assert code_of(wrong.value) == code
    assert server.seen == []


def test_a_client_certificate_signs_in_and_its_key_stays_in_no_file(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    modes: list[int] = []
    real = os.unlink

    def unlink(path: Any, **options: Any) -> None:
        modes.append(os.stat(path).st_mode & 0o777)
        real(path, **options)

    monkeypatch.setattr(os, "unlink", unlink)
    clients = Authority("clients")
    pair = clients.pair()
    user = {
        "client-certificate-data": encoded(pair.certificate),
        "client-key-data": encoded(pair.key),
    }

    assert ask(serve(client_authority=clients).kubeconfig(user)) == VERSION
    assert modes == [0o600]
    assert list(folder.iterdir()) == []


def test_a_client_certificate_that_has_expired_is_named_before_anything_is_sent(
    serve: Serve,
) -> None:
    pair = Authority().pair(after=timedelta(days=-1))
    user = {
        "client-certificate-data": encoded(pair.certificate),
        "client-key-data": encoded(pair.key),
    }
    server = serve()

    with pytest.raises(ClusterRefusesCredentials) as refused:
        ask(server.kubeconfig(user))

    assert code_of(refused.value) == "clusters.client_certificate_expired"
    assert server.seen == []


def test_a_server_that_refuses_our_certificate_is_named_with_its_date(serve: Serve) -> None:
    pair = Authority("strangers").pair(after=timedelta(days=1))
    user = {
        "client-certificate-data": encoded(pair.certificate),
        "client-key-data": encoded(pair.key),
    }
    # In TLS 1.3 the server may close before the client has read the alert.
    server = serve(client_authority=Authority("clients"), newest_tls=ssl.TLSVersion.TLSv1_2)

    with pytest.raises(ClusterRefusesCredentials) as refused:
        ask(server.kubeconfig(user))

    assert code_of(refused.value) == "clusters.client_certificate_refused"
    assert (clock.now() + timedelta(days=1)).date().isoformat() in str(refused.value.detail)


def test_an_authority_out_of_date_is_not_taken_for_the_certificate(serve: Serve) -> None:
    authority = Authority(after=timedelta(hours=-1))
    server = serve(authority=authority)

    with pytest.raises(ClusterCertificateWrong) as wrong:
        ask(server.kubeconfig())

    assert code_of(wrong.value) == "clusters.certificate_authority_dates"


HTML = b"<!DOCTYPE html><html><body>Sign in</body></html>"
STATUS = {"kind": "Status", "message": "pods is forbidden\nfor\x1b you"}


@pytest.mark.parametrize(
    ("reply", "error", "code"),
    [
        (Reply(200, HTML, {"Content-Type": "text/html"}), ClusterAnswerWrong, "answer_html"),
        (Reply(200, HTML), ClusterAnswerWrong, "answer_html"),
        (Reply(403, HTML, {"Content-Type": "text/html"}), ClusterAnswerWrong, "answer_html"),
        (Reply(401, HTML, {"Content-Type": "text/html"}), ClusterAnswerWrong, "answer_html"),
        (Reply(200, b"hello"), ClusterAnswerWrong, "answer_not_json"),
        (Reply(200, b"[" * 3_500), ClusterAnswerWrong, "answer_not_json"),
        (Reply(200, []), ClusterAnswerWrong, "answer_not_json"),
        (Reply(200, {}, {"Content-Encoding": "gzip"}), ClusterAnswerWrong, "answer_packed"),
        (Reply(200, {"a": "x" * 5000}), ClusterAnswerWrong, "answer_too_large"),
        (Reply(403, STATUS), ClusterForbids, "answer_status"),
        (Reply(500, STATUS), ClusterFails, "answer_status"),
        (Reply(429, b"slow down", {"Content-Type": "text/plain"}), ClusterFails, "answer_status"),
    ],
)
def test_answers_that_are_none(
    serve: Serve, reply: Reply, error: type[ClusterFailure], code: str
) -> None:
    with pytest.raises(error) as failed:
        ask(serve(lambda _: reply).kubeconfig(), Limits(answer_bytes=4000))

    assert code_of(failed.value) == f"clusters.{code}"
    assert failed.value.detail.isprintable()


def test_a_token_that_is_not_known(serve: Serve) -> None:
    with pytest.raises(ClusterRefusesCredentials):
        ask(serve(lambda _: Reply(401, {"kind": "Status"})).kubeconfig())


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n"


@pytest.mark.parametrize(
    "parts",
    [
        [b""] * 50,
        # Each byte comes in time; the whole would not.
        [bytes([byte]) for byte in HEAD],
        [HEAD, *([b" "] * 100)],
    ],
    ids=["nothing", "slow headers", "slow body"],
)
def test_an_answer_that_trickles_ends(serve: Serve, parts: list[bytes]) -> None:
    server = serve(lambda _: Reply(raw=parts, pause_s=0.1))
    with pytest.raises(ClusterTooSlow):
        ask(server.kubeconfig(), Limits(read_s=0.5, request_s=0.8))


def test_many_requests_end_together(serve: Serve) -> None:
    server = serve(lambda _: Reply(raw=[b"", b""], pause_s=0.2))
    access = parse_kubeconfig(server.kubeconfig())
    with ClusterConnection(access, HERE, Limits(total_s=0.3)) as cluster:
        for _ in range(3):
            with pytest.raises(ClusterFailure):
                cluster.get("/version")
        with pytest.raises(ClusterTooSlow):
            cluster.get("/version")
    assert len(server.seen) <= 2


def test_nothing_listens_there() -> None:
    with pytest.raises(ClusterUnreachable):
        ask(kubeconfig("https://127.0.0.1:9", Authority().pem))
    with pytest.raises(ClusterUnreachable):
        ask(kubeconfig("https://nowhere.invalid", Authority().pem))


def test_the_typed_client_uses_the_same_door(serve: Serve) -> None:
    def answers(asked: Seen) -> Reply:
        if asked.method == "POST":
            return Reply(403, STATUS)
        return Reply(body={"kind": "NodeList", "items": [{"metadata": {"name": "n1"}}]})

    server = serve(answers)
    with ClusterConnection(parse_kubeconfig(server.kubeconfig()), HERE) as cluster:
        nodes = CoreV1Api(cluster.api).list_node(limit=5)
        assert [node.metadata.name for node in nodes.items if node.metadata] == ["n1"]
        with pytest.raises(ClusterForbids), cluster.plain_errors():
            CoreV1Api(cluster.api).create_namespaced_pod("jobs", V1Pod())
    assert [asked.path for asked in server.seen] == [
        "/api/v1/nodes?limit=5",
        "/api/v1/namespaces/jobs/pods",
    ]
    assert {asked.headers["Authorization"] for asked in server.seen} == {f"Bearer {TOKEN}"}


def test_the_client_asks_no_other_host(serve: Serve) -> None:
    server = serve()
    cluster = ClusterConnection(parse_kubeconfig(server.kubeconfig()), HERE)
    with cluster, pytest.raises(ClusterUnreachable), cluster.plain_errors():
        cluster.api.rest_client.request(  # type: ignore[no-untyped-call]
            "GET", "https://169.254.169.254/latest/"
        )
    assert server.seen == []
