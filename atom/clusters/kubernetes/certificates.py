"""TLS towards an API server: trust, our own certificate, and words for what is wrong with it."""

from __future__ import annotations

import os
import ssl
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime

from cryptography import x509

from atom.clusters.kubernetes.errors import (
    ClusterCertificateWrong,
    ClusterFailure,
    ClusterRefusesCredentials,
)
from atom.clusters.kubernetes.kubeconfig import ClusterAccess
from atom.clusters.kubernetes.timed_sockets import TimedSocket, ending
from atom.core import clock
from atom_sdk.public_hosts import connect_to_one
from atom_sdk.sentences import Sentence

# OpenSSL's numbers, as `ssl.SSLCertVerificationError.verify_code` has them.
_NOT_YET_VALID, _EXPIRED = 9, 10
_UNKNOWN_AUTHORITY = {2, 7, 18, 19, 20, 21, 27}
_OTHER_HOST = {62, 64}
# Alerts by which a server refuses a certificate of ours, as OpenSSL names them.
_REFUSALS = {
    "SSLV3_ALERT_BAD_CERTIFICATE",
    "SSLV3_ALERT_CERTIFICATE_EXPIRED",
    "SSLV3_ALERT_CERTIFICATE_REVOKED",
    "SSLV3_ALERT_CERTIFICATE_UNKNOWN",
    "SSLV3_ALERT_UNSUPPORTED_CERTIFICATE",
    "TLSV1_ALERT_UNKNOWN_CA",
}


def tls_context(access: ClusterAccess, kind: type[ssl.SSLSocket]) -> ssl.SSLContext:
    """Return the TLS settings of a cluster; its sockets are of the class `kind`.

    Raises ClusterRefusesCredentials for a certificate of ours that has expired, and
    ClusterCertificateWrong for an authority that is none.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.sslsocket_class = kind
    # As Kubernetes' own client: an intermediate authority may stand alone.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    if access.authority_pem:
        try:
            context.load_verify_locations(cadata=access.authority_pem)
        except (ssl.SSLError, ValueError) as error:
            raise _unknown_authority() from error
    else:
        context.load_default_certs()
    if access.certificate_pem:
        _check_dates(access.certificate_pem)
        _load_pair(context, access)
    return context


def certificate_failure(
    error: ssl.SSLCertVerificationError,
    host: str,
    addresses: Sequence[str],
    port: int,
    wait_s: float,
) -> ClusterFailure:
    """Return why the server's certificate is not taken; its dates are asked for again."""
    if error.verify_code in (_EXPIRED, _NOT_YET_VALID):
        return ClusterCertificateWrong(_dates(_leaf_of(host, addresses, port, wait_s), host))
    if error.verify_code in _OTHER_HOST:
        return ClusterCertificateWrong(
            Sentence(
                "clusters.certificate_other_host",
                "The certificate is not of {host}.",
                host=host,
            )
        )
    return _unknown_authority() if error.verify_code in _UNKNOWN_AUTHORITY else _not_trusted(error)


def client_refusal(error: ssl.SSLError, certificate_pem: str, host: str) -> ClusterFailure | None:
    """Return the failure of a server that refuses our certificate by an alert, None otherwise."""
    if not certificate_pem or error.reason not in _REFUSALS:
        return None
    until = x509.load_pem_x509_certificate(certificate_pem.encode()).not_valid_after_utc
    return ClusterRefusesCredentials(
        Sentence(
            "clusters.client_certificate_refused",
            "{host} refuses the client certificate in the kubeconfig, which is valid until {date}.",
            host=host,
            date=until.date().isoformat(),
        )
    )


def read_alert(
    context: ssl.SSLContext, host: str, addresses: Sequence[str], port: int, wait_s: float
) -> ssl.SSLError | None:
    """Return the alert with which a server ends a new connection, None if there is none.

    A server that refuses a certificate closes a socket on which a request is on its way; the alert
    is lost then. Here nothing is sent.
    """
    try:
        with (
            ending(time.monotonic() + wait_s),
            connect_to_one(addresses, port, wait_s) as plain,
            context.wrap_socket(plain, server_hostname=host) as secured,
        ):
            secured.recv(1)
    except ssl.SSLError as error:
        return error
    except OSError:
        return None
    return None


def _dates(leaf: x509.Certificate | None, host: str) -> Sentence:
    now = clock.now()
    if leaf is not None and now > leaf.not_valid_after_utc:
        return Sentence(
            "clusters.certificate_expired",
            "The certificate of {host} has expired on {date}.",
            host=host,
            date=leaf.not_valid_after_utc.date().isoformat(),
        )
    if leaf is not None and now < leaf.not_valid_before_utc:
        return Sentence(
            "clusters.certificate_not_yet_valid",
            "The certificate of {host} is valid from {date} on; compare the clocks.",
            host=host,
            date=leaf.not_valid_before_utc.date().isoformat(),
        )
    return Sentence(
        "clusters.certificate_authority_dates",
        "An authority in the certificate chain of {host} has expired, or is not valid yet.",
        host=host,
    )


def _leaf_of(
    host: str, addresses: Sequence[str], port: int, wait_s: float
) -> x509.Certificate | None:
    """Return the certificate that a server shows, None if it shows none that can be read.

    A handshake that was refused keeps no certificate. Nothing is sent over this second one.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.sslsocket_class = TimedSocket
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with (
            ending(time.monotonic() + wait_s),
            connect_to_one(addresses, port, wait_s) as plain,
            context.wrap_socket(plain, server_hostname=host) as secured,
        ):
            leaf = x509.load_der_x509_certificate(secured.getpeercert(binary_form=True) or b"")
            # Dates beyond what can be read raise here.
            return leaf if leaf.not_valid_before_utc < leaf.not_valid_after_utc else None
    except (OSError, ValueError):
        return None


def _not_trusted(error: ssl.SSLCertVerificationError) -> ClusterCertificateWrong:
    return ClusterCertificateWrong(
        Sentence(
            "clusters.certificate_refused",
            "The certificate is refused: {reason}.",
            reason=error.verify_message,
        )
    )


def _unknown_authority() -> ClusterCertificateWrong:
    return ClusterCertificateWrong(
        Sentence(
            "clusters.certificate_unknown_authority",
            "The certificate is of an authority that the kubeconfig does not name.",
        )
    )


def _check_dates(pem: str) -> None:
    """Refuse a certificate of ours that is out of date. Raises ClusterRefusesCredentials."""
    leaf = x509.load_pem_x509_certificate(pem.encode())
    now: datetime = clock.now()
    if now > leaf.not_valid_after_utc:
        raise ClusterRefusesCredentials(
            Sentence(
                "clusters.client_certificate_expired",
                "The client certificate in the kubeconfig has expired on {date}.",
                date=leaf.not_valid_after_utc.date().isoformat(),
            )
        )
    if now < leaf.not_valid_before_utc:
        raise ClusterRefusesCredentials(
            Sentence(
                "clusters.client_certificate_not_yet_valid",
                "The client certificate in the kubeconfig is valid from {date} on.",
                date=leaf.not_valid_before_utc.date().isoformat(),
            )
        )


def _load_pair(context: ssl.SSLContext, access: ClusterAccess) -> None:
    """Give the context our certificate and key, which OpenSSL reads from a file only."""
    # Made by this user for this user alone (0600), and gone before anything is sent.
    handle, path = tempfile.mkstemp(prefix="atom-cluster-")
    try:
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(access.certificate_pem + access.key_pem)
        context.load_cert_chain(path, password=_no_password)
    except ssl.SSLError as error:
        raise ClusterRefusesCredentials(
            Sentence(
                "clusters.client_certificate_unusable",
                "The client certificate in the kubeconfig cannot be used.",
            )
        ) from error
    finally:
        with suppress(FileNotFoundError):
            os.unlink(path)


def _no_password() -> str:
    # Without it OpenSSL would ask for one on the terminal.
    return ""
