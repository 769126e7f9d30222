import base64
import json
from pathlib import Path

from atom.dev.secret_store import load_or_generate, secrets_path


def test_secrets_are_generated_once_and_private(tmp_path: Path) -> None:
    first = load_or_generate(tmp_path)
    assert load_or_generate(tmp_path) == first
    assert secrets_path(tmp_path).stat().st_mode & 0o777 == 0o600
    assert len(base64.urlsafe_b64decode(first.encryption_key)) == 32


def test_two_installations_share_no_secret(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    one, other = load_or_generate(tmp_path / "a"), load_or_generate(tmp_path / "b")
    assert set(vars(one).values()).isdisjoint(vars(other).values())


def test_an_older_installation_keeps_its_secrets_and_gets_what_is_new(tmp_path: Path) -> None:
    first = load_or_generate(tmp_path)
    older = {name: value for name, value in vars(first).items() if name != "metrics_token"}
    secrets_path(tmp_path).write_text(json.dumps(older))
    second = load_or_generate(tmp_path)
    assert vars(second) == older | {"metrics_token": second.metrics_token}
    assert load_or_generate(tmp_path) == second
