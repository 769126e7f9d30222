"""Code from git: the server fetches a commit, and this waits for it."""

from __future__ import annotations

import time
from typing import Any

from atom_sdk.client.errors import ClientError
from atom_sdk.client.transport.http import Http
from atom_sdk.client.transport.polling import pauses

_SETTLED = ("ready", "failed")


class CodeNotFetchedError(ClientError):
    """The server could not fetch the commit; the text says why and what to do."""

    code = "code_not_fetched"
    hint = "Correct the address, the ref or the secret, and run the same command again."


def fetch_code(
    http: Http, project: str, url: str, ref: str = "", secret: str = ""
) -> dict[str, Any]:
    """Have a commit fetched and return what the server knows of it. Raises CodeNotFetchedError.

    `secret` names a secret of the project. The answer has `code_snapshot`, which a run takes.
    """
    body = {"url": url, "ref": ref, "secret": secret}
    found: dict[str, Any] = http.post(f"projects/{project}/code-fetches/", body)
    waits = pauses()
    while found["state"] not in _SETTLED:
        time.sleep(next(waits))
        found = http.get(f"projects/{project}/code-fetches/{found['id']}/")
    if problem := found["problem"]:
        raise CodeNotFetchedError(f"{problem['title']} {problem['detail']} {problem['action']}")
    return found
