"""The command line against the whole running stack."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from atom.settings.environment import BASE_DIR
from atom_sdk.client import Client
from tests.e2e.conftest import Shell

pytestmark = pytest.mark.timeout(600)


def test_the_ten_lines_of_the_readme_run_as_printed(shell: Shell, images: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (BASE_DIR / "README.md").read_text(), re.S)
    assert len(blocks) == 1
    assert len(blocks[0].strip().splitlines()) <= 10
    done = shell("-c", blocks[0], program="python")
    assert "v1 40 files sent" in done.stdout
    assert "40 samples" in done.stdout
    assert "succeeded\nhello from Atom" in done.stdout


def test_a_folder_becomes_versions_and_comes_back_byte_for_byte(
    shell: Shell, images: Path, tmp_path: Path
) -> None:
    push = ("--json", "data", "push", "images", "pets")
    labels = ("--labels", "folder", "--unlabelled", "unlabelled", "--split", "test=6")
    first = json.loads(shell(*push, "-m", "first", *labels).stdout)
    assert (first["version"]["ref"], first["files_sent"]) == ("v1", 40)
    again = json.loads(shell(*push).stdout)
    assert again["unchanged"] is True
    assert again["bytes_sent"] == 0

    (images / "cats" / "000.png").write_bytes(
        (images / "dogs" / "001.png").read_bytes()[:-1] + b"x"
    )
    (images / "dogs" / "001.png").unlink()
    second = json.loads(shell(*push, "-m", "second").stdout)
    assert (second["version"]["ref"], second["files_sent"], second["removed"]) == ("v2", 1, 1)
    diff = json.loads(shell("--json", "data", "diff", "pets@v1", "pets@v2").stdout)
    assert (diff["summary"]["changed"], diff["summary"]["removed"]) == (1, 1)

    shell("data", "pull", "pets@v2", "copy")
    expected = {p.relative_to(images): p.read_bytes() for p in images.rglob("*.png")}
    copied = {
        p.relative_to(tmp_path / "copy"): p.read_bytes() for p in (tmp_path / "copy").rglob("*.png")
    }
    assert copied == expected


def test_a_reader_selects_a_split_and_never_sees_the_others(
    shell: Shell, images: Path, atom: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ATOM_CACHE", str(tmp_path / "cache"))
    labels = ("--labels", "folder", "--unlabelled", "unlabelled", "--split", "test=6")
    shell("data", "push", "images", "split-pets", *labels)
    test = atom.datasets.open("split-pets@v1", split="test")
    assert len(test) == 6
    assert {sample.label for sample in test} == {"cats", "dogs"}
    train = atom.datasets.open("split-pets@v1", split="train")
    assert {s.path for s in train}.isdisjoint(s.path for s in test)


def test_exit_codes_tell_scripts_what_happened(
    shell: Shell, tmp_path: Path, environment: dict[str, str]
) -> None:
    missing = shell("data", "log", "no-such-dataset", check=False)
    assert missing.returncode == 3
    assert "Traceback" not in missing.stderr
    assert shell("data", "push", "no-such-folder", "x", check=False).returncode == 2
    (tmp_path / "empty").mkdir()
    empty = shell("data", "push", "empty", "nothing", check=False)
    assert empty.returncode == 2
    assert "no files" in empty.stderr
    assert "no run 'nothing'" in shell("get", "nothing", check=False).stderr
    environment["ATOM_TOKEN"] = "atom_0_wrong"
    stranger = shell("whoami", check=False)
    assert stranger.returncode == 3
    assert "wrong, expired or revoked" in stranger.stderr
    assert "atom login" in stranger.stderr


def test_a_failing_command_fails_the_shell_too(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    failed = shell(
        "run", "--follow", "--code", "empty", "--", "python", "-c", "exit(3)", check=False
    )
    assert failed.returncode == 1
    assert "USER_CODE" in failed.stderr


def test_a_run_reads_code_from_the_folder_and_shows_its_log(shell: Shell, tmp_path: Path) -> None:
    code = tmp_path / "code"
    code.mkdir()
    (code / "train.py").write_text("import helper\nprint('sum', helper.total)\n")
    (code / "helper.py").write_text("total = sum(range(10))\n")
    done = shell("run", "--follow", "--code", "code", "--name", "sum", "--", "python", "train.py")
    assert "sum 45" in done.stdout
    listed = json.loads(shell("--json", "ls", "-q", "sum").stdout)
    assert listed[0]["state"] == "succeeded"
    assert "sum 45" in shell("logs", "sum").stdout
    assert shell("logs", "sum", "--search", "SUM [0-9]+", "--regex").stdout == "1:sum 45\n"
    assert shell("logs", "sum", "--errors", check=False).returncode == 1
    refused = shell("cancel", "sum", check=False)
    assert refused.returncode == 4
    assert "has succeeded already" in refused.stderr


def test_a_run_gets_a_secret_that_no_log_shows(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "value").write_text("hush-hush-123\n")
    assert "kept API_KEY" in shell("secret", "set", "API_KEY", "--from", "value").stdout
    assert "API_KEY" in shell("secret", "ls").stdout
    (tmp_path / "empty").mkdir()
    words = ("sh", "-c", "echo it is $API_KEY of ${#API_KEY}; echo $API_KEY | rev")
    done = shell("run", "--follow", "--code", "empty", "--secret", "API_KEY", "--", *words)
    assert done.stdout.splitlines()[-2:] == ["it is *** of 13", "321-hsuh-hsuh"]
    assert "removed API_KEY" in shell("secret", "rm", "API_KEY").stdout
    gone = shell("run", "--code", "empty", "--secret", "API_KEY", "--", "true", check=False)
    assert gone.returncode == 2
    assert "no secret of this name" in gone.stderr


def test_json_is_all_that_a_script_reads(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    script = ("python", "-c", "print('a'); print('b')", "--json")
    done = shell("run", "--code", "empty", "--name", "ab", "--json", "--follow", "--", *script)
    *frames, run = map(json.loads, done.stdout.splitlines())
    assert "".join(frame["text"] for frame in frames) == "a\nb\n"
    assert (run["state"], run["command"][-1]) == ("succeeded", "--json")
    assert json.loads(shell("wait", "ab", "--json").stdout)["id"] == run["id"]
    lines = shell("--json", "logs", "ab").stdout.splitlines()
    assert [json.loads(line)["text"] for line in lines] == [frame["text"] for frame in frames]


def test_help_needs_no_server(shell: Shell, environment: dict[str, str]) -> None:
    environment.pop("ATOM_URL")
    assert "Exit codes" in shell("--help").stdout
    for command in ("data push", "run", "logs", "model register", "workflow run", "token create"):
        assert "Usage:" in shell(*command.split(), "--help").stdout
    assert shell("data", "ls", check=False).returncode == 2


def test_the_doctor_finds_the_stack_well_and_a_wrong_token_by_name(
    shell: Shell, images: Path, environment: dict[str, str]
) -> None:
    shell("data", "push", "images", "examined")
    seen = json.loads(shell("doctor", "--json", check=False).stdout)["checks"]
    levels = {check["name"]: check["level"] for check in seen}
    names = ("configuration", "server", "version", "clock", "token", "project", "object store")
    assert {name: levels[name] for name in names} == dict.fromkeys(names, "ok"), seen
    assert "scopes admin" in next(one["detail"] for one in seen if one["name"] == "token")
    environment["ATOM_TOKEN"] = "atom_wrong_token"
    refused = shell("doctor", check=False)
    assert refused.returncode == 1
    assert "error    token: The server did not take it." in refused.stdout


def test_the_log_of_a_run_holds_whole_characters_and_whole_lines(
    shell: Shell, tmp_path: Path
) -> None:
    (tmp_path / "prints.py").write_text(
        "import sys, time\n"
        "def say(stream, text):\n"
        "    for byte in text.encode():\n"
        "        stream.buffer.write(bytes([byte])); stream.buffer.flush()\n"
        "say(sys.stdout, '日本')\n"
        "time.sleep(0.5)\n"
        "say(sys.stderr, 'ошибка\\n')\n"
        "time.sleep(0.5)\n"
        "say(sys.stdout, '語🙂ж\\n')\n"
    )
    command = ("--code", ".", "--name", "prints", "--", "python", "prints.py")
    assert shell("run", "--follow", *command).stdout == "ошибка\n日本語🙂ж\n"
    assert shell("logs", "prints").stdout == "ошибка\n日本語🙂ж\n"
    assert shell("logs", "prints", "--stream", "stderr").stdout == "ошибка\n"
    assert shell("logs", "prints", "-f", "--stream", "stdout").stdout == "日本語🙂ж\n"
    assert "日本語🙂" in shell("logs", "prints", "--search", "語🙂").stdout
