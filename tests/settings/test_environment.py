import os
import subprocess
import sys
from pathlib import Path

import pytest

from atom.settings.database import database_from_url
from atom.settings.environment import BASE_DIR, Environment


def test_a_secret_may_come_from_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = tmp_path / "secret"
    secret.write_text("from a file\n")
    monkeypatch.delenv("ATOM_SECRET_KEY", raising=False)
    monkeypatch.setenv("ATOM_SECRET_KEY_FILE", str(secret))
    assert Environment().atom_secret_key.get_secret_value() == "from a file"


def test_the_variable_itself_wins_over_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secret").write_text("from a file")
    monkeypatch.setenv("ATOM_SECRET_KEY_FILE", str(tmp_path / "secret"))
    monkeypatch.setenv("ATOM_SECRET_KEY", "from the environment")
    assert Environment().atom_secret_key.get_secret_value() == "from the environment"


def test_printing_the_environment_shows_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("S3_SECRET_ACCESS_KEY", "do-not-show")
    monkeypatch.setenv("DATABASE_URL", "postgresql://u:do-not-show@h/d")
    assert "do-not-show" not in repr(Environment())


def test_database_url_is_decoded() -> None:
    entry = database_from_url("postgresql://us%40er:p%2Fw@db:5433/atom?sslmode=require")
    assert (entry["USER"], entry["PASSWORD"]) == ("us@er", "p/w")
    assert (entry["HOST"], entry["PORT"], entry["NAME"]) == ("db", 5433, "atom")
    assert entry["OPTIONS"] == {"sslmode": "require"}


@pytest.mark.parametrize("kept_s", [0, 60])
def test_a_connection_that_is_kept_is_tried_before_it_is_used_again(kept_s: int) -> None:
    entry = database_from_url("postgresql://u:p@db/atom", kept_s=kept_s)
    assert (entry["CONN_MAX_AGE"], entry["CONN_HEALTH_CHECKS"]) == (kept_s, kept_s > 0)


@pytest.mark.parametrize("url", ["mysql://h/d", "postgresql://h", "", "atom"])
def test_another_kind_of_database_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="DATABASE_URL"):
        database_from_url(url)


def _import_production(**variables: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **{name: os.environ[name] for name in ("PATH", "ATOM_HOME")},
        "DJANGO_SETTINGS_MODULE": "atom.settings.production",
        **variables,
    }
    code = "from django.conf import settings; print(settings.SESSION_COOKIE_SECURE)"
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=BASE_DIR,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_production_refuses_to_start_without_its_secrets() -> None:
    result = _import_production()
    assert result.returncode != 0
    assert "Set ATOM_SECRET_KEY" in result.stderr


def test_production_has_secure_cookies() -> None:
    result = _import_production(
        ATOM_SECRET_KEY="k" * 50, ATOM_ENCRYPTION_KEY="e" * 44, ATOM_ALLOWED_HOSTS="atom.example"
    )
    assert result.stdout.strip() == "True", result.stderr


def test_sources_are_allowed_by_host_address_or_network(monkeypatch: pytest.MonkeyPatch) -> None:
    allowed = "minio.lab, 127.0.0.1, 10.1.0.0/16, ::1, localhost,"
    monkeypatch.setenv("ATOM_SOURCE_ALLOW", allowed)
    assert Environment().atom_source_allow == allowed


@pytest.mark.parametrize("item", ["minio.lab:9000", "127.0.0.1:9000", "http://minio", "a b"])
def test_what_would_never_match_a_source_is_refused(
    item: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATOM_SOURCE_ALLOW", f"127.0.0.1,{item}")
    with pytest.raises(ValueError, match="leave out https:// and the port"):
        Environment()


@pytest.mark.parametrize("item", ["k8s.lab", "10.0.0.0/33", "https://10.0.0.1"])
def test_networks_of_clusters_are_networks(item: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATOM_CLUSTER_NETWORKS", "10.1.0.0/16, ::1")
    assert Environment().atom_cluster_networks == "10.1.0.0/16, ::1"
    monkeypatch.setenv("ATOM_CLUSTER_NETWORKS", f"10.1.0.0/16,{item}")
    with pytest.raises(ValueError, match="no address or network"):
        Environment()
