"""HTTP to registries: each connection goes to an address that was checked a moment before."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import httpx

from atom_sdk.checked_connections import CheckedTransport
from atom_sdk.public_hosts import addresses_within

# A registry hashes a large blob before it answers.
PATIENT_S, USUAL_S, QUICK_S = 600.0, 60.0, 5.0
# All networks but those that no setting opens: an administrator has named the registry.
ANY_NETWORK = ("0.0.0.0/0", "::/0")


def http_client(networks: Sequence[str], wait_s: float = USUAL_S) -> httpx.Client:
    """Return a client that reaches public addresses and these networks.

    `wait_s`: the longest silence of a registry.
    """
    return httpx.Client(
        transport=CheckedTransport(partial(addresses_within, networks=networks)),
        timeout=httpx.Timeout(QUICK_S, read=wait_s, write=USUAL_S),
        headers={"User-Agent": "atom/1", "Accept-Encoding": "identity"},
        trust_env=False,
    )


def read_bounded(answer: httpx.Response, most_bytes: int) -> bytes:
    """Return the bytes of a streamed answer as they were sent, and close it.

    Raises ValueError if they are more.
    """
    content = b""
    try:
        for chunk in answer.iter_raw():
            content += chunk
            if len(content) > most_bytes:
                raise ValueError("an answer is too large")
    finally:
        answer.close()
    return content
