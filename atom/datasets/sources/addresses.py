"""Where the server may connect to on behalf of a project: no door into its own network.

The rule is the SDK's (`atom_sdk.public_hosts`), which imports are downloaded by as well. A name
whose answer changes between the check and the connection (DNS rebinding) gets through: who must
exclude that puts the workers behind an egress proxy.
"""

from __future__ import annotations

from collections.abc import Sequence

from atom.datasets.source_errors import SourceAddressRefused, SourceAway
from atom_sdk.public_hosts import AddressRefusedError, HostUnknownError, check_public_url


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
