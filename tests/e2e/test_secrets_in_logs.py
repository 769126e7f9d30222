"""No log of the whole stack has what opens it, however it was asked."""

from __future__ import annotations

import json
import secrets

import httpx

from tests.stack import Stack


def _own_secrets(stack: Stack, token: str) -> dict[str, str]:
    """Return what the installation itself is opened by."""
    kept = json.loads((stack.home / "secrets.json").read_text())
    found = {name: value for name, value in kept.items() if isinstance(value, str)}
    # The name of a key is no secret.
    return {name: value for name, value in found.items() if name[-3:] != "_id"} | {"token": token}


def test_no_log_has_a_secret(stack: Stack, token: str) -> None:
    own = _own_secrets(stack, token)
    assert {"admin_password"} < set(own)
    sent: dict[str, str] = {}

    def of(place: str) -> str:
        return sent.setdefault(place, f"Zq9{secrets.token_hex(12)}")

    bearer = {"Authorization": f"Bearer {token}"}
    bodies = (f'{{"password": "{of("body")}", "username": "admin"}}', f'["{of("odd body")}')
    with httpx.Client(timeout=30) as http:
        for base in (stack.base_url, f"{stack.base_url}/api/v1", stack.s3_url):
            for path in ("/", "/runs/", "/auth/oidc/callback/", "/nowhere"):
                query = {name: of(f"query {name}") for name in ("code", "token", "X-Amz-Signature")}
                wrong = {"Authorization": f"Bearer atom_{of('token')}", "Cookie": f"a={of('c')}"}
                http.get(base + path, params=query, headers=wrong)
                http.get(base + path, headers=bearer)
                signed = f"AWS4-HMAC-SHA256 Credential={of('key')}/x, Signature={of('signature')}"
                http.get(base + path, headers={"Authorization": signed})
        for body in bodies:
            headers = {"Content-Type": "application/json", "X-CSRFToken": of("csrf")}
            http.post(f"{stack.base_url}/api/v1/auth/login/", content=body, headers=headers)
        http.get(
            f"{stack.base_url}/api/v1/shared-run/", headers={"Atom-Share": of("link to a run")}
        )
        http.get(f"{stack.base_url}/media/{of('media token')}/a.png")
        http.put(f"{stack.base_url}/media/parts/{of('part token')}", content=b"x")
    logs = [path for path in stack.home.joinpath("logs").rglob("*") if path.is_file()]
    logs += stack.home.glob("*.out")
    texts = {path.name: path.read_text(errors="replace") for path in logs}
    assert any("request_finished" in text for text in texts.values())
    wanted = {**own, **sent}
    leaks = [
        (log, place)
        for log, text in texts.items()
        for place, secret in wanted.items()
        if secret in text
    ]
    assert leaks == []
