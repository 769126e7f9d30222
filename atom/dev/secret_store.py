"""Secrets of an installation, generated once and readable by its owner only."""

import base64
import json
import os
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path


def _token() -> str:
    return secrets.token_urlsafe(24)


@dataclass(frozen=True)
class InstallationSecrets:
    """Everything that must not be guessed."""

    postgres_password: str
    valkey_password: str
    s3_access_key_id: str
    s3_secret_access_key: str
    secret_key: str
    encryption_key: str
    admin_password: str
    metrics_token: str

    @classmethod
    def generate(cls) -> "InstallationSecrets":
        """Return fresh secrets; the encryption key is 32 bytes in URL-safe base 64."""
        return cls(
            postgres_password=_token(),
            valkey_password=_token(),
            s3_access_key_id=secrets.token_hex(10),
            s3_secret_access_key=_token(),
            secret_key=secrets.token_urlsafe(50),
            encryption_key=base64.urlsafe_b64encode(secrets.token_bytes(32)).decode(),
            admin_password=_token()[:16],
            metrics_token=_token(),
        )


def secrets_path(home: Path) -> Path:
    """Where an installation keeps its secrets."""
    return home / "secrets.json"


def load_or_generate(home: Path) -> InstallationSecrets:
    """Return the installation's secrets; those that it does not have yet are generated."""
    path = secrets_path(home)
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    found = asdict(InstallationSecrets.generate()) | kept
    if found.keys() != kept.keys():
        write_private(path, json.dumps(found, indent=2) + "\n")
    return InstallationSecrets(**found)


def write_private(path: Path, text: str) -> None:
    """Replace a file by one with mode 0600, so that no reader sees half of it."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
