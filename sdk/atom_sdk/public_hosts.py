"""Which addresses a program may fetch from that somebody else named: only public ones.

Every address that a host name has must be public, unless the host or its network is allowed. The
name is resolved here and again by whoever connects, a moment later: a name whose answer changes in
between (DNS rebinding) gets through `check_public_url`, which is for an early, plain refusal. For
protection, connect to one of `public_addresses` and to nothing else, see `checked_connections`.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Sequence
from urllib.parse import urlsplit

from atom_sdk.errors import AtomError
from atom_sdk.sentences import Sentence

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
# All that is given out to the world (RFC 4291, 2.4). Beside it are old ways to write an IPv4
# address and networks of a site, some of which `ipaddress` takes for global.
_UNICAST = ipaddress.ip_network("2000::/3")
# Answered by the host of a virtual machine, though `ipaddress` takes them for public: assignments
# of the protocol itself (Oracle's metadata), and Azure's agent.
_OF_HOSTS = (ipaddress.ip_network("192.0.0.0/24"), ipaddress.ip_network("168.63.129.16/32"))
# Metadata of Alibaba, AWS and Google in networks that are otherwise private; 0.0.0.0/8 leads to
# this machine.
_NEVER = (
    *_OF_HOSTS,
    ipaddress.ip_network("0.0.0.0/8"),
    ipaddress.ip_network("100.100.100.200/32"),
    ipaddress.ip_network("fd00:ec2::254/128"),
    ipaddress.ip_network("fd20:ce::254/128"),
)


class AddressRefusedError(AtomError):
    """An address that is no plain http(s) URL, or leads to a network that is not public."""

    code = "address_refused"
    hint = "Give a public http(s) address, or have the host allowed."


class AddressForbiddenError(AddressRefusedError):
    """An address that no setting opens: link-local, multicast, or that of a cloud's metadata."""

    hint = "Give another address; no setting opens this one."


class HostUnknownError(AtomError):
    """The host name has no address."""

    code = "host_unknown"
    hint = "Check the name and the network."


def check_public_url(url: str, allowed: Sequence[str]) -> None:
    """Refuse an address that may lead into a private network.

    `allowed` are host names, addresses and networks. Raises AddressRefusedError, HostUnknownError.
    """
    if not url.isprintable():
        raise AddressRefusedError(
            Sentence(
                "address.bad_character",
                "{url} has a character that no URL may have.",
                url=repr(url),
            )
        )
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as exc:
        raise AddressRefusedError(
            Sentence("address.not_a_url", "{url} is not a URL.", url=repr(url))
        ) from exc
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise AddressRefusedError(
            Sentence("address.not_http", "The address must begin with https:// or http://.")
        )
    if parts.username or parts.password:
        raise AddressRefusedError(
            Sentence(
                "address.has_credentials",
                "Leave user and password out of the address: others may read it.",
            )
        )
    public_addresses(parts.hostname, port or 443, allowed)


def public_addresses(host: str, port: int, allowed: Sequence[str]) -> list[str]:
    """Return the addresses of a host, all of which may be connected to.

    Raises AddressRefusedError if one of them may not, HostUnknownError if there is none.
    """
    name = host.rstrip(".").lower()
    found = _resolve(name, port)
    if name not in {item.lower() for item in allowed}:
        networks = [network for item in allowed if (network := _network(item)) is not None]
        for address in found:
            if not _is_public(address) and not any(address in network for network in networks):
                raise AddressRefusedError(
                    Sentence(
                        "address.not_public",
                        "{host} is in a network that is not public.",
                        host=name,
                    )
                )
    return [str(address) for address in found]


def addresses_within(host: str, port: int, networks: Sequence[str]) -> list[str]:
    """Return the addresses of a host, each of which is public or in one of `networks`.

    Link-local, multicast and metadata addresses are refused even where a network holds them.
    Raises AddressRefusedError if one of them may not be used, HostUnknownError if there is none.
    """
    name = host.rstrip(".").lower()
    found = _resolve(name, port)
    listed = [network for item in networks if (network := _network(item)) is not None]
    for address in found:
        inner = _unwrapped(address)
        if _is_never(inner):
            raise AddressForbiddenError(
                Sentence(
                    "address.never",
                    "{host} leads to {address}, which only the machine itself may ask.",
                    host=name,
                    address=address,
                )
            )
        is_listed = any(end in network for network in listed for end in (address, inner))
        if not is_listed and not _is_public(address):
            raise AddressRefusedError(
                Sentence(
                    "address.not_listed",
                    "{host} leads to {address}, in a network that is neither public nor listed.",
                    host=name,
                    address=address,
                )
            )
    return [str(address) for address in found]


def connect_to_one(addresses: Sequence[str], port: int, timeout_s: float | None) -> socket.socket:
    """Connect to the first of a host's checked addresses that answers. Raises OSError."""
    *others, last = addresses
    for address in others:
        try:
            return socket.create_connection((address, port), timeout_s)
        except OSError:
            continue
    return socket.create_connection((last, port), timeout_s)


def _resolve(host: str, port: int) -> list[_Address]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as exc:
        raise HostUnknownError(
            Sentence("address.host_unknown", "There is no host {host}.", host=host)
        ) from exc
    return [ipaddress.ip_address(str(row[4][0]).split("%")[0]) for row in found]


def _is_public(address: _Address) -> bool:
    inner = _unwrapped(address)
    if isinstance(inner, ipaddress.IPv6Address) and inner not in _UNICAST:
        return False
    if any(inner in network for network in _OF_HOSTS):
        return False
    return inner.is_global and not inner.is_multicast


def _unwrapped(address: _Address) -> _Address:
    """Return the IPv4 address in an IPv6 one that wraps it, which is where packets would go."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped or address.sixtofour or address


def _is_never(address: _Address) -> bool:
    if address.is_link_local or address.is_multicast or address.is_unspecified:
        return True
    # The last block of IPv4; IPv6's reserved addresses hold loopback, which may be listed.
    if isinstance(address, ipaddress.IPv4Address) and address.is_reserved:
        return True
    return any(address in network for network in _NEVER)


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None
