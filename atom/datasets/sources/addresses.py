"""Where the server may connect to on behalf of a project: no door into its own network.

Every address that a host name has must be public, unless the administrator allows the host or
the network. `check_url` says so early and in plain words; what protects is `connections`, where
each connection goes to an address that came out of `checked_addresses` and to no other.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Sequence
from urllib.parse import urlsplit

from atom.datasets.source_errors import SourceAddressRefused, SourceAway

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def check_url(url: str, allowed: Sequence[str]) -> None:
    """Refuse an address that is no plain http(s) URL or leads to a network that is not public.

    `allowed` are host names, addresses and networks. Raises SourceAddressRefused, SourceAway.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as exc:
        raise SourceAddressRefused(f"{url!r} is not a URL.") from exc
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise SourceAddressRefused("The address must begin with https:// or http://.")
    if parts.username or parts.password:
        raise SourceAddressRefused("Give credentials in their own fields, never in the address.")
    checked_addresses(parts.hostname, port or 443, allowed)


def checked_addresses(host: str, port: int, allowed: Sequence[str]) -> list[str]:
    """Return the addresses of a host, all of which may be connected to.

    Raises SourceAddressRefused if one of them may not, SourceAway if there is none.
    """
    name = host.rstrip(".").lower()
    found = _resolve(name, port)
    if name not in {item.lower() for item in allowed}:
        networks = [network for item in allowed if (network := _network(item)) is not None]
        for address in found:
            if not _is_public(address) and not any(address in network for network in networks):
                raise SourceAddressRefused(f"{name} is in a network that is not public.")
    return [str(address) for address in found]


def _resolve(host: str, port: int) -> list[_Address]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as exc:
        raise SourceAway(f"There is no host {host}.") from exc
    return [ipaddress.ip_address(str(row[4][0]).split("%")[0]) for row in found]


def _is_public(address: _Address) -> bool:
    # An IPv6 address may be a wrapped IPv4 one, which is where packets would go.
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if inner is not None:
            return _is_public(inner)
        if address in _NAT64:
            return _is_public(ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF))
    return address.is_global and not address.is_multicast


_NAT64 = ipaddress.ip_network("64:ff9b::/96")


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None
