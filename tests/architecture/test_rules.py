"""Rules about the source itself, cheap enough to run with every test."""

import re
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from atom.settings.environment import BASE_DIR

LOCKS = sorted((BASE_DIR / "requirements").glob("*.txt"))
# Built from parts, so that this file does not break its own rule.
MACHINE_PATHS = re.compile("|".join(f"/{name}/" for name in ("work/main", "work/shared", "root")))


def _tracked_files() -> list[Path]:
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=BASE_DIR,
        capture_output=True,
        check=True,
    ).stdout
    paths = [BASE_DIR / name.decode() for name in listing.split(b"\0") if name]
    return [path for path in paths if path.is_file()]


def test_imports_follow_the_layers() -> None:
    program = Path(sys.executable).with_name("lint-imports")
    result = subprocess.run(
        [program, "--no-cache"],
        cwd=BASE_DIR,
        env={"PYTHONPATH": f"{BASE_DIR / 'sdk'}:{BASE_DIR / 'agent'}", "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout[-4000:]


@pytest.mark.django_db
def test_migrations_match_the_models() -> None:
    output = StringIO()
    try:
        call_command("makemigrations", check=True, dry_run=True, stdout=output)
    except SystemExit:
        pytest.fail(output.getvalue())


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_locks_pin_by_hash_and_name_no_registry(lock: Path) -> None:
    text = lock.read_text()
    assert "://" not in text
    assert "find-links" not in text
    requirements = re.findall(r"^[A-Za-z0-9][^\n]*(?:\n    [^\n]*)*", text, flags=re.MULTILINE)
    assert requirements
    for requirement in requirements:
        assert "==" in requirement
        assert "--hash=sha256:" in requirement, requirement


def test_the_portal_lock_names_no_registry() -> None:
    assert '"resolved"' not in (BASE_DIR / "frontend" / "package-lock.json").read_text()


def test_no_file_names_a_path_of_the_machine_it_was_written_on() -> None:
    guilty = []
    for path in _tracked_files():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        if MACHINE_PATHS.search(text):
            guilty.append(str(path.relative_to(BASE_DIR)))
    assert guilty == []
