"""Kubeconfigs that people paste: read as data, and reduced to one context.

A kubeconfig may name programs and files, which a client runs and reads. Here they would run and
be read on this server, so each such field is refused by its name, in every context of the file.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from atom.clusters.kubernetes.errors import KubeconfigRefused
from atom.clusters.kubernetes.kubeconfig_yaml import MAX_CHARACTERS, read_yaml
from atom_sdk.sentences import Sentence

_MAX_CERTIFICATES = 64
_EMPTY = {"", "null", "~", "Null", "NULL"}
_TOKEN = re.compile(r"[A-Za-z0-9._~+/=:-]{1,16384}")
_HOST = re.compile(r"[A-Za-z0-9.:-]{1,253}")
_PATH = re.compile(r"(?:/[A-Za-z0-9._~:-]+)*/?")
# Labels of DNS: the name of a namespace.
_NAMESPACE = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_KNOWN_USER = {"client-certificate-data", "client-key-data", "token", "extensions"}
_KNOWN_CLUSTER = {
    "server", "certificate-authority-data", "tls-server-name", "disable-compression", "extensions",
    "insecure-skip-tls-verify",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ClusterAccess:
    """One context of a kubeconfig: where the API is, and by what it knows us."""

    server: str
    context: str = ""
    namespace: str = ""
    # Empty: the host of `server`.
    tls_server_name: str = ""
    # Empty: the authorities that this machine trusts.
    authority_pem: str = field(default="", repr=False)
    certificate_pem: str = field(default="", repr=False)
    key_pem: str = field(default="", repr=False)
    token: str = field(default="", repr=False)
    # The account of the pod that this server runs in; nothing else is kept of it.
    is_in_cluster: bool = False

    def as_text(self) -> str:
        """Return it as text, for an encrypted column."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_text(cls, text: str) -> ClusterAccess:
        """Undo `as_text`."""
        return cls(**json.loads(text))


def parse_kubeconfig(text: str, context: str = "") -> ClusterAccess:
    """Return the access that one context gives; without `context` the file's current one.

    Raises KubeconfigRefused, before anything is run, read or connected to.
    """
    config = _mapping(read_yaml(text), "kubeconfig")
    users = _named(config, "users", "user")
    clusters = _named(config, "clusters", "cluster")
    contexts = _named(config, "contexts", "context")
    for place, user in users.values():
        _refuse_user(place, user)
    for place, cluster in clusters.values():
        _refuse_cluster(place, cluster)
    chosen = _chosen(config, contexts, context)
    place, links = contexts[chosen]
    cluster_place, cluster = _linked(clusters, links, place, "cluster")
    user_place, user = _linked(users, links, place, "user")
    server = checked_server(_text(cluster, cluster_place, "server"), f"{cluster_place}.server")
    token, certificate, key = _credentials(user, user_place)
    return ClusterAccess(
        server=server,
        context=chosen,
        namespace=_namespace(links, place),
        tls_server_name=_tls_name(cluster, cluster_place),
        authority_pem=_authority(cluster, cluster_place),
        token=token,
        certificate_pem=certificate,
        key_pem=key,
    )


def checked_server(server: str, place: str = "server") -> str:
    """Return the address of an API server without a slash at its end. Raises KubeconfigRefused."""
    try:
        parts = urlsplit(server)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    is_plain = server.isascii() and server.isprintable() and " " not in server
    extras = parts.username or parts.password or parts.query or parts.fragment
    wrong_host = not _HOST.fullmatch(parts.hostname or "") or "@" in parts.netloc or port == 0
    if not is_plain or parts.scheme != "https" or wrong_host or extras:
        raise KubeconfigRefused(
            Sentence(
                "clusters.server_not_https",
                "{place} must be a plain address that begins with https://.",
                place=place,
            )
        )
    if not _PATH.fullmatch(parts.path) or ".." in parts.path:
        raise KubeconfigRefused(
            Sentence("clusters.server_path_wrong", "{place} has a path that is none.", place=place)
        )
    return server.rstrip("/")


def _wrong(place: str) -> KubeconfigRefused:
    return KubeconfigRefused(
        Sentence(
            "clusters.kubeconfig_wrong_value",
            "{place} is missing or of another type than a kubeconfig has.",
            place=place,
        )
    )


def _mapping(value: Any, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _wrong(place)
    return value


def _named(config: dict[str, Any], name: str, inner: str) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return the entries of a list by their names, each with its place in the file."""
    rows = config.get(name)
    if not isinstance(rows, list):
        raise _wrong(name)
    named: dict[str, tuple[str, dict[str, Any]]] = {}
    for at, row in enumerate(rows):
        place = f"{name}[{at}]"
        key = _text(_mapping(row, place), place, "name")
        value = row.get(inner)
        # A user without any field is written as nothing or as null.
        entry = {} if isinstance(value, str) and value in _EMPTY else value
        if not key or key in named:
            raise _wrong(f"{place}.name")
        named[key] = (f"{place}.{inner}", _mapping(entry, f"{place}.{inner}"))
    return named


def _text(mapping: Mapping[str, Any], place: str, name: str) -> str:
    value = mapping.get(name, "")
    if not isinstance(value, str) or len(value) > MAX_CHARACTERS:
        raise _wrong(f"{place}.{name}")
    return "" if value in _EMPTY else value


def _refuse_user(place: str, user: dict[str, Any]) -> None:
    if "exec" in user:
        raise KubeconfigRefused(
            Sentence(
                "clusters.kubeconfig_exec",
                "{place} names a program that would run on this server.",
                place=f"{place}.exec",
            )
        )
    if "auth-provider" in user:
        raise KubeconfigRefused(
            Sentence(
                "clusters.kubeconfig_auth_provider",
                "{place} names a provider that would run on this server.",
                place=f"{place}.auth-provider",
            )
        )
    if "tokenFile" in user:
        raise KubeconfigRefused(
            Sentence(
                "clusters.kubeconfig_token_file",
                "{place} names a file that would be read on this server.",
                place=f"{place}.tokenFile",
            )
        )
    for name in ("client-certificate", "client-key"):
        _refuse_path(place, user, name)
    for name in ("username", "password"):
        if name in user:
            raise KubeconfigRefused(
                Sentence(
                    "clusters.kubeconfig_basic_auth",
                    "{place} is of basic authentication, which clusters no longer take.",
                    place=f"{place}.{name}",
                )
            )
    _refuse_unknown(place, user, _KNOWN_USER)


def _refuse_cluster(place: str, cluster: dict[str, Any]) -> None:
    _refuse_path(place, cluster, "certificate-authority")
    if "proxy-url" in cluster:
        raise KubeconfigRefused(
            Sentence(
                "clusters.kubeconfig_proxy",
                "{place} would send this server's requests to a proxy.",
                place=f"{place}.proxy-url",
            )
        )
    if _text(cluster, place, "insecure-skip-tls-verify").lower() not in {"", "false"}:
        raise KubeconfigRefused(
            Sentence(
                "clusters.kubeconfig_insecure",
                "{place} would let anybody answer in the cluster's place.",
                place=f"{place}.insecure-skip-tls-verify",
            )
        )
    _refuse_unknown(place, cluster, _KNOWN_CLUSTER)


def _refuse_path(place: str, mapping: dict[str, Any], name: str) -> None:
    if name in mapping:
        raise KubeconfigRefused(
            Sentence(
                "clusters.kubeconfig_certificate_path",
                "{place} is the path of a file on this server; put the content into {data}.",
                place=f"{place}.{name}",
                data=f"{name}-data",
            )
        )


def _refuse_unknown(place: str, mapping: dict[str, Any], known: set[str]) -> None:
    for name in mapping.keys() - known:
        raise KubeconfigRefused(
            Sentence(
                "clusters.kubeconfig_unknown_field",
                "{place} is a field that Atom does not know.",
                place=f"{place}.{name[:100]}",
            )
        )


def _chosen(config: dict[str, Any], contexts: Mapping[str, Any], context: str) -> str:
    name = context or _text(config, "kubeconfig", "current-context")
    if not name and len(contexts) == 1:
        return next(iter(contexts))
    if name not in contexts:
        raise KubeconfigRefused(
            Sentence(
                "clusters.kubeconfig_context_unknown",
                "There is no context {context}; choose from {contexts}.",
                context=name[:100] or "-",
                contexts=", ".join(sorted(contexts))[:500] or "-",
            )
        )
    return name


def _linked(
    entries: Mapping[str, tuple[str, dict[str, Any]]], links: dict[str, Any], place: str, name: str
) -> tuple[str, dict[str, Any]]:
    entry = entries.get(_text(links, place, name))
    if entry is None:
        raise _wrong(f"{place}.{name}")
    return entry


def _namespace(links: dict[str, Any], place: str) -> str:
    name = _text(links, place, "namespace")
    if name and not _NAMESPACE.fullmatch(name):
        raise _wrong(f"{place}.namespace")
    return name


def _tls_name(cluster: dict[str, Any], place: str) -> str:
    name = _text(cluster, place, "tls-server-name")
    if name and not _HOST.fullmatch(name):
        raise _wrong(f"{place}.tls-server-name")
    return name


def _authority(cluster: dict[str, Any], place: str) -> str:
    pem = _decoded(cluster, place, "certificate-authority-data")
    return _certificates(pem, f"{place}.certificate-authority-data")[0] if pem else ""


def _credentials(user: dict[str, Any], place: str) -> tuple[str, str, str]:
    """Return token, certificate and key. Raises KubeconfigRefused."""
    token = _text(user, place, "token")
    if token and not _TOKEN.fullmatch(token):
        raise _wrong(f"{place}.token")
    certificate = _decoded(user, place, "client-certificate-data")
    key = _decoded(user, place, "client-key-data")
    if bool(certificate) != bool(key):
        raise _wrong(f"{place}.client-{'key' if certificate else 'certificate'}-data")
    if not token and not certificate:
        raise KubeconfigRefused(
            Sentence(
                "clusters.kubeconfig_no_credentials",
                "{place} has neither a token nor a certificate with its key.",
                place=place,
            )
        )
    if certificate:
        certificate, key = _pair(certificate, key, place)
    return token, certificate, key


def _pair(certificate: str, key: str, place: str) -> tuple[str, str]:
    """Return a client's certificate and key, which belong together. Raises KubeconfigRefused."""
    pem, leaf = _certificates(certificate, f"{place}.client-certificate-data")
    try:
        private = load_pem_private_key(key.encode(), password=None)
        of_key = private.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        text = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
        of_leaf = leaf.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    except Exception:
        # The library raises errors of many kinds for keys that are broken, or have a password.
        raise _wrong(f"{place}.client-key-data") from None
    if of_key != of_leaf:
        raise KubeconfigRefused(
            Sentence(
                "clusters.kubeconfig_key_mismatch",
                "{place}: the key is not the key of the certificate.",
                place=place,
            )
        )
    return pem, text


def _certificates(pem: str, place: str) -> tuple[str, x509.Certificate]:
    """Return the certificates of a PEM text and nothing else of it, and the first one."""
    try:
        found = x509.load_pem_x509_certificates(pem.encode())
        text = "".join(one.public_bytes(Encoding.PEM).decode() for one in found)
    except Exception:
        # Strangers' bytes: the library has errors of its own for each way in which they are wrong.
        raise _wrong(place) from None
    if not 0 < len(found) <= _MAX_CERTIFICATES:
        raise _wrong(place)
    return text, found[0]


def _decoded(mapping: dict[str, Any], place: str, name: str) -> str:
    try:
        return base64.b64decode(
            "".join(_text(mapping, place, name).split()), validate=True
        ).decode()
    except (binascii.Error, ValueError):
        raise _wrong(f"{place}.{name}") from None
