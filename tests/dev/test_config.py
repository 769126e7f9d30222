from pathlib import Path

import pytest
from pydantic import ValidationError

from atom.dev.config import Installation
from atom.dev.secret_store import InstallationSecrets

EXTERNAL = {
    "DATABASE_URL": "postgresql://u:p@db.example/atom",
    "REDIS_URL": "redis://cache.example/0",
    "S3_ENDPOINT_URL": "https://s3.example",
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in (*EXTERNAL, "S3_BUCKET"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ATOM_HOME", str(tmp_path))
    return tmp_path


def test_without_addresses_the_three_services_are_started(home: Path) -> None:
    installation, secrets = Installation.load(), InstallationSecrets.generate()
    assert installation.postgres(secrets)
    assert installation.valkey(secrets)
    assert installation.seaweed(secrets)
    assert {"DATABASE_URL", "REDIS_URL", "S3_ENDPOINT_URL"} < set(
        installation.stack_environment(secrets)
    )


@pytest.mark.parametrize("name", EXTERNAL)
def test_a_service_with_an_address_is_not_started(
    home: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, EXTERNAL[name])
    installation, secrets = Installation.load(), InstallationSecrets.generate()
    own = {
        "DATABASE_URL": installation.postgres(secrets),
        "REDIS_URL": installation.valkey(secrets),
        "S3_ENDPOINT_URL": installation.seaweed(secrets),
    }
    assert [key for key, server in own.items() if server is None] == [name]
    assert name not in installation.stack_environment(secrets)


def test_ports_come_from_the_config_file_and_the_environment_wins(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "config.env").write_text("ATOM_WEB_PORT=9100\nATOM_GATEWAY_PORT=9101\n")
    monkeypatch.setenv("ATOM_GATEWAY_PORT", "9201")
    environment = Installation.load().environment
    assert (environment.atom_web_port, environment.atom_gateway_port) == (9100, 9201)
    assert Installation.load().url == "http://127.0.0.1:9100"


def test_a_port_that_is_no_number_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATOM_WEB_PORT", "eighty")
    with pytest.raises(ValidationError, match="atom_web_port"):
        Installation.load()
