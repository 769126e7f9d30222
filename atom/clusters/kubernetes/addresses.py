"""Where a cluster's API may be: public addresses and networks that the installation lists.

The rule is the SDK's (`atom_sdk.public_hosts`), as for sources and webhooks. A connection goes to
the addresses that were checked here, and never resolves the name again.
"""

from __future__ import annotations

from collections.abc import Sequence

from atom.clusters.kubernetes.errors import (
    ClusterAddressForbidden,
    ClusterAddressRefused,
    ClusterUnreachable,
)
from atom_sdk.public_hosts import (
    AddressForbiddenError,
    AddressRefusedError,
    HostUnknownError,
    addresses_within,
)

# Each is tried in turn; a name with more than these only makes a caller wait.
MAX_ADDRESSES = 4
# An account of the installation's own cluster: its address comes from the pod, not from a person.
ANY_NETWORK = ("0.0.0.0/0", "::/0")


def checked_addresses(host: str, port: int, networks: Sequence[str]) -> list[str]:
    """Return the addresses of an API server, all of which may be connected to.

    Raises ClusterAddressRefused if one of them may not, ClusterUnreachable if there is none.
    """
    try:
        return addresses_within(host, port, networks)[:MAX_ADDRESSES]
    except AddressForbiddenError as refused:
        raise ClusterAddressForbidden(str(refused)) from refused
    except AddressRefusedError as refused:
        raise ClusterAddressRefused(str(refused)) from refused
    except HostUnknownError as unknown:
        raise ClusterUnreachable(str(unknown)) from unknown
