"""Where the server may connect to on behalf of a project: no door into its own network.

The rule is the SDK's (`atom_sdk.public_hosts`), which imports are downloaded by as well.
`check_url` says so early and in plain words; what protects is `connections`, where each connection
goes to an address that came out of `checked_addresses` and to no other.
"""

from __future__ import annotations

from collections.abc import Sequence

from atom.datasets.sources.errors import SourceAddressRefused, SourceAway
from atom_sdk.public_hosts import (
    AddressRefusedError,
    HostUnknownError,
    check_public_url,
    public_addresses,
)


def check_url(url: str, allowed: Sequence[str]) -> None:
    """Refuse an address that is no plain http(s) URL or leads to a network that is not public.

    `allowed` are host names, addresses and networks. Raises SourceAddressRefused, SourceAway.
    """
    try:
        check_public_url(url, allowed)
    except AddressRefusedError as refused:
        raise SourceAddressRefused(str(refused)) from refused
    except HostUnknownError as unknown:
        raise SourceAway(str(unknown)) from unknown


def checked_addresses(host: str, port: int, allowed: Sequence[str]) -> list[str]:
    """Return the addresses of a host, all of which may be connected to.

    Raises SourceAddressRefused if one of them may not, SourceAway if there is none.
    """
    try:
        return public_addresses(host, port, allowed)
    except AddressRefusedError as refused:
        raise SourceAddressRefused(str(refused)) from refused
    except HostUnknownError as unknown:
        raise SourceAway(str(unknown)) from unknown
