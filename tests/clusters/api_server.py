"""An https server of a test's own, with certificates of its own, that answers as a test wants."""

from __future__ import annotations

import base64
import ipaddress
import json
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

TOKEN = "token-of-a-test"


@dataclass(frozen=True)
class Pair:
    """A certificate with its key, in PEM."""

    certificate: str
    key: str


class Authority:
    """Signs certificates."""

    def __init__(
        self, name: str = "test authority", *, after: timedelta = timedelta(days=1)
    ) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        builder = self._builder(self._name, self._key, timedelta(days=2), after)
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        self.pem = builder.sign(self._key, hashes.SHA256()).public_bytes(Encoding.PEM).decode()

    def _builder(
        self, name: x509.Name, key: Any, before: timedelta, after: timedelta
    ) -> x509.CertificateBuilder:
        now = datetime.now(UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - before)
            .not_valid_after(now + after)
        )

    def pair(
        self,
        *hosts: str,
        after: timedelta = timedelta(days=1),
        before: timedelta = timedelta(days=2),
    ) -> Pair:
        """Return a certificate of the hosts, and its key."""
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "atom")])
        builder = self._builder(name, key, before, after)
        if hosts:
            names = [_general_name(host) for host in hosts]
            builder = builder.add_extension(x509.SubjectAlternativeName(names), False)
        signed = builder.sign(self._key, hashes.SHA256()).public_bytes(Encoding.PEM).decode()
        text = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
        return Pair(signed, text)


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


@dataclass(frozen=True)
class Seen:
    """A request as it came."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any
    sni: str | None


@dataclass(frozen=True)
class Reply:
    """An answer: JSON, or bytes as they are."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    # Written in place of all of the above.
    raw: Sequence[bytes] | None = None
    pause_s: float = 0.0


Answers = Callable[[Seen], Reply]


@dataclass
class ApiServer:
    """The server, and what it has seen."""

    url: str
    authority: Authority
    answers: Answers
    seen: list[Seen] = field(default_factory=list)
    names: list[str | None] = field(default_factory=list)

    def kubeconfig(self, user: Mapping[str, Any] | None = None, **cluster: Any) -> str:
        """Return a kubeconfig that leads here; fields of `cluster` come on top."""
        return kubeconfig(self.url, self.authority.pem, user, cluster)


def encoded(text: str) -> str:
    """Return base64, as `-data` fields have it."""
    return base64.b64encode(text.encode()).decode()


def kubeconfig(
    server: str,
    authority_pem: str,
    user: Mapping[str, Any] | None = None,
    cluster: Mapping[str, Any] | None = None,
) -> str:
    """Return a kubeconfig with one context."""
    fields = {"server": server, "certificate-authority-data": encoded(authority_pem)}
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "main",
            "contexts": [
                {"name": "main", "context": {"cluster": "c", "user": "u", "namespace": "jobs"}}
            ],
            "clusters": [{"name": "c", "cluster": {**fields, **(cluster or {})}}],
            "users": [{"name": "u", "user": {"token": TOKEN} if user is None else dict(user)}],
        }
    )


@contextmanager
def api_server(  # noqa: C901  # the server and its handler
    answers: Answers,
    folder: Path,
    *,
    authority: Authority | None = None,
    pair: Pair | None = None,
    client_authority: Authority | None = None,
    newest_tls: ssl.TLSVersion = ssl.TLSVersion.MAXIMUM_SUPPORTED,
) -> Iterator[ApiServer]:
    """Serve on a free port of this machine, as the host of `pair`."""
    authority = authority or Authority()
    pair = pair or authority.pair("127.0.0.1", "localhost")
    certificate = folder / "server.pem"
    certificate.write_text(pair.certificate + pair.key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    context.maximum_version = newest_tls
    if client_authority is not None:
        context.load_verify_locations(cadata=client_authority.pem)
        context.verify_mode = ssl.CERT_REQUIRED
    served = ApiServer("", authority, answers)
    context.sni_callback = lambda _, name, __: served.names.append(name)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Headers and body are two writes; the second must not wait for the client.
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            sent = self.rfile.read(length)
            body = json.loads(sent) if sent else None
            name = served.names[-1] if served.names else None
            asked = Seen(self.command, self.path, dict(self.headers), body, name)
            served.seen.append(asked)
            reply = served.answers(asked)
            if reply.raw is not None:
                self._write_slowly(reply)
                return
            data = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
            self.send_response_only(reply.status)
            headers = {
                "Date": self.date_time_string(),
                "Content-Type": "application/json",
                "Content-Length": str(len(data)),
            }
            for key, value in {**headers, **reply.headers}.items():
                self.send_header(key, value)
            self.end_headers()
            self.wfile.write(data)

        do_POST = do_GET  # noqa: N815  # the base class's name

        def _write_slowly(self, reply: Reply) -> None:
            self.close_connection = True
            for part in reply.raw or ():
                if stopping.wait(reply.pause_s):
                    return
                try:
                    self.wfile.write(part)
                except OSError:
                    return

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def finish_request(self, request: Any, client_address: Any) -> None:
            # The handshake is the thread's, so that one client does not hold up the others.
            try:
                with context.wrap_socket(request, server_side=True) as wrapped:
                    super().finish_request(wrapped, client_address)
            except OSError:
                return

    stopping = threading.Event()
    server = Server(("127.0.0.1", 0), Handler)
    served.url = f"https://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield served
    finally:
        stopping.set()
        server.shutdown()
        thread.join()
        server.server_close()
