"""The command line without a server: what is refused before anything is asked."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from atom_sdk.cli.advice import ADVICE
from atom_sdk.cli.context import Context
from atom_sdk.cli.main import main
from atom_sdk.cli.render import Bars, path_text, print_table
from atom_sdk.cli.run_options import request_of
from atom_sdk.cli.runs import _print_run
from atom_sdk.cli.runs import run as run_command
from tests.sdk.answering import Answer, answering

Done = subprocess.CompletedProcess[str]
Atom = Callable[..., Done]
# Nothing listens on this port: what gets as far as a request ends with exit code 5, or waits.
NOWHERE = "http://127.0.0.1:9"


def environment(folder: Path) -> dict[str, str]:
    return {
        "PATH": "/usr/bin:/bin",
        "HOME": str(folder),
        "ATOM_PROJECT": "demo",
        "ATOM_URL": NOWHERE,
        "ATOM_TOKEN": "atom_x_y",
    }


@pytest.fixture
def atom(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Atom:
    """Run `atom …` in a folder, by the program's entry point: a process each takes long."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith(("ATOM_", "XDG_"))]:
        monkeypatch.delenv(name)
    for name, value in environment(tmp_path).items():
        monkeypatch.setenv(name, value)

    # By this click knows that a program runs, not `python -m pytest`.
    monkeypatch.setattr(sys.modules["__main__"], "__package__", None)

    def run(*arguments: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["atom", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return Done(arguments, int(ended.value.code or 0), *capfd.readouterr())

    return run


def test_the_program_that_is_installed_is_the_one_that_is_tested_here(tmp_path: Path) -> None:
    program = str(Path(sys.executable).parent / "atom")
    done = subprocess.run(
        [program, "data", "diff", "a@v1", "b@v1", "--json"],
        cwd=tmp_path,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert json.loads(done.stderr)["code"] == "usage"


def test_a_program_whose_output_nobody_reads_has_neither_succeeded_nor_failed(
    tmp_path: Path,
) -> None:
    unread, output = os.pipe()
    os.close(unread)
    done = subprocess.run(
        [str(Path(sys.executable).parent / "atom"), "--help"],
        cwd=tmp_path,
        env=environment(tmp_path),
        stdout=output,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )
    os.close(output)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Answer(502, "<html></html>", {"Retry-After": "0"}), "answered 502"),
        (Answer(500, '{"code": "internal", "detail": "Something broke."}'), "Something broke"),
        (Answer(200, "<html>Sign in</html>"), "not as Atom does"),
        (Answer(301, "", {"Location": "https://atom.example/"}), "https://atom.example."),
    ],
)
def test_a_server_that_cannot_tell_is_no_run_that_failed(
    atom: Atom, monkeypatch: pytest.MonkeyPatch, answer: Answer, said: str
) -> None:
    with answering([answer]) as url:
        monkeypatch.setenv("ATOM_URL", url)
        done = atom("wait", "01a20e24-ad1c-718d-8b9f-1f506b3f7c94")
    assert done.returncode == 5
    assert said in done.stderr


def test_signing_in_takes_the_token_from_a_pipe(
    atom: Atom, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", StringIO(""))
    done = atom("login", NOWHERE)
    assert (done.returncode, "token on standard input" in done.stderr) == (2, True)
    monkeypatch.setattr(sys, "stdin", StringIO("atom_a_b\n"))
    with answering([Answer(200, '{"username": "mia"}')]) as url:
        done = atom("login", url)
    assert (done.returncode, "as mia" in done.stdout) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("run", "-r", ".", "--", "true"), "directory"),
        (("run", "-r", "binary", "--", "true"), "UTF-8"),
        (("run", "--memory", "", "--", "true"), "not a size"),
        (("run", "--memory", "-1g", "--", "true"), "not a size"),
        (("run", "--memory", "inf", "--", "true"), "not a size"),
        (("run", "--naem", "x", "--", "true"), "No such option"),
        (("run", "--data", "digits", "--", "true"), "NAME=VALUE"),
        (("run", "-p", "lr", "--", "true"), "NAME=VALUE"),
        (("clone", "12", "-p", "=1"), "NAME=VALUE"),
        (("data", "split", "digits"), "Say how much"),
        (("data", "split", "digits", "--split", "test=6x"), "20%"),
        (("data", "split", "digits", "--split", "test=6", "--split", "test=7"), "given twice"),
        (("data", "split", "digits", "--group-by", "folder"), "say how much"),
        (("run", "--may-write=yes", "--", "true"), "does not take a value"),
        (("run", "--where", "d=label =", "--", "true"), "not valid at character"),
        (("data", "push", ".", "Bad Name"), "not a dataset reference"),
        (("mount", "digits@v1"), "Give the FOLDER"),
        (("mount", "digits@v1", "x", "--how", "magic"), "is not one of"),
        (("data", "push", ".", "digits", "--attributes", "none.csv"), "does not exist"),
        (("data", "pull", "digits@v1", "out", "--split"), "requires an argument"),
        (("run", "--wait", "--follow", "--", "true"), "not both"),
        (("retry", "7", "--wait-timeout", "5"), "needs --wait"),
        (("run", "--code-snapshot", "a", "--git", "b", "--", "true"), "exclude each other"),
        (("wait", "7", "--timeout", "-1"), "not in the range"),
    ],
)
def test_wrong_use_is_a_sentence_and_exit_code_2(
    atom: Atom, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    done = atom(*arguments)
    assert done.returncode == 2, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("--json", "data", "diff", "a@v1", "b@v1"),
        ("data", "--json", "diff", "a@v1", "b@v1"),
        ("data", "diff", "--json", "a@v1", "b@v1"),
        ("data", "diff", "a@v1", "b@v1", "--json"),
    ],
)
def test_json_may_stand_anywhere_and_failures_are_json_then(
    atom: Atom, arguments: tuple[str, ...]
) -> None:
    done = atom(*arguments)
    assert done.returncode == 2
    assert json.loads(done.stderr)["code"] == "usage"


@pytest.mark.parametrize("arguments", [("--", "tool", "--json"), ("tool", "--json", "--follow")])
def test_the_options_of_the_job_are_its_own(atom: Atom, arguments: tuple[str, ...]) -> None:
    done = atom("run", "--code", "missing", *arguments)
    assert done.returncode == 2
    assert done.stderr.startswith("Usage: atom run")


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("cats/täglich 1.png", "cats/täglich 1.png"),
        ("a\nb\tc", r"a\nb\tc"),
        ("back\\slash", r"back\\slash"),
        ("\x1b[31mred", r"\x1b[31mred"),
        ("line\u2028end", r"line\u2028end"),
    ],
)
def test_a_path_is_shown_in_one_line_and_unmistakably(path: str, shown: str) -> None:
    assert path_text(path) == shown


@pytest.mark.parametrize("url", ["nonsense", "ftp://host", "http://", "localhost:80"])
def test_an_address_that_is_none_is_wrong_use(
    atom: Atom, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv("ATOM_URL", url)
    done = atom("ls")
    assert (done.returncode, done.stdout) == (2, "")
    assert "is no address of a server" in done.stderr
    assert "set ATOM_URL" in done.stderr


@pytest.mark.parametrize("token", ["ünï", "atom_x\ny", "令牌"])
def test_a_token_that_cannot_be_sent_is_a_sentence(
    atom: Atom, monkeypatch: pytest.MonkeyPatch, token: str
) -> None:
    monkeypatch.setenv("ATOM_TOKEN", token)
    done = atom("ls")
    assert (done.returncode, done.stdout) == (2, "")
    assert "The token is not valid" in done.stderr
    assert "Traceback" not in done.stderr


def test_help_shows_its_examples_line_by_line(atom: Atom) -> None:
    lines = [line.strip() for line in atom("--help").stdout.splitlines()]
    assert not [line for line in lines if "\\b" in line or "\b" in line]
    examples = [line for line in lines if line.startswith("atom ")]
    assert [line.split()[1] for line in examples] == ["login", "data", "run"]


def test_a_run_asks_to_write_only_when_it_is_said_and_the_command_keeps_its_own_options() -> None:
    def requested(*words: str) -> tuple[bool | None, list[str]]:
        given = run_command.make_context("run", list(words)).params
        body = request_of(given.pop("command"), given)
        return body.get("may_write"), body["command"]

    assert requested("python", "t.py", "--may-write") == (None, ["python", "t.py", "--may-write"])
    assert requested("--may-write", "--", "python", "t.py") == (True, ["python", "t.py"])


def test_a_run_has_its_parameters_from_options() -> None:
    words = ("-p", "lr=0.1", "-p", "opt=adam", "-p", 'tag="7"', "-p", "top=NaN", "--", "true")
    given = run_command.make_context("run", list(words)).params
    body = request_of(given.pop("command"), given)
    assert body["parameters"] == {"lr": 0.1, "opt": "adam", "tag": "7", "top": "NaN"}


def test_a_run_has_its_settings_from_options() -> None:
    words = "--cpus 2 --memory 1g --tag a --tag b --timeout 60 --retries 3 --env K=V=W -- true"
    given = run_command.make_context("run", words.split()).params
    body = request_of(given.pop("command"), given)
    assert (body["tags"], body["timeout_s"], body["max_retries"]) == (["a", "b"], 60, 3)
    assert (body["env"], body["resources"]) == ({"K": "V=W"}, {"cpus": 2, "memory_bytes": 1 << 30})


def test_the_command_line_starts_without_what_only_some_commands_need() -> None:
    program = "import sys, atom_sdk.cli.main; print(sorted({'numpy', 'pyarrow'} & {*sys.modules}))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", ["", "  "])
@pytest.mark.parametrize(
    "words",
    [
        ("run", "--name", "NAME", "--", "true"),
        ("workflow", "run", "image-classification", "--name", "NAME"),
        ("data", "archive", "save", "digits", "folder", "--as", "NAME"),
        ("data", "archive", "load", ".", "--name", "NAME"),
    ],
)
def test_a_blank_name_is_a_usage_error(atom: Atom, words: tuple[str, ...], name: str) -> None:
    done = atom(*(name if word == "NAME" else word for word in words))
    assert done.returncode == 2
    assert "may not be blank" in done.stderr


def test_what_the_command_line_advises_are_commands_that_exist(atom: Atom) -> None:
    named = {
        tuple(words.split())
        for text in ADVICE.values()
        for words in re.findall(r"\batom ((?:[a-z]+ )+|[a-z]+)", text)
    }
    assert len(named) > 10
    for words in named:
        assert atom(*words, "--help").returncode == 0, words


def test_a_table_in_a_pipe_has_one_line_per_row(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    row = ("digits@v1", "f" * 64, "2026-11-22T10:00", "a message that is longer " * 8)
    print_table(Context().out, ("version", "digest", "when", "message"), [row])
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_text_of_people_is_printed_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    context = Context()
    for console in (context.out, context.err):
        console.print("KeyError: '[/red] :x: [bold]'", markup=False)
    assert {*capsys.readouterr()} == {"KeyError: '[/red] :x: [bold]'\n"}


def test_a_run_shows_the_names_of_its_metrics_as_they_are() -> None:
    texts = ("name", "id", "state", "progress_text", "notes", "failure_class")
    rest = {"number": 3, "command": [], "datasets": [], "tags": [], "duration_s": 1.0}
    asked = {"resources": {"cpus": 1, "memory_bytes": 1 << 30, "gpus": 0}}
    found = {**dict.fromkeys(texts, ""), **rest, **asked, "metrics_summary": {"中文 metric": 0.5}}
    shown = StringIO()
    _print_run(Console(file=shown, width=120), found)
    assert '{"中文 metric": 0.5}' in shown.getvalue()


def test_a_step_that_had_nothing_to_do_leaves_no_bar() -> None:
    out = StringIO()
    console = Console(file=out, force_terminal=True, width=100)
    with Bars(console, enabled=True) as bars:
        bars.start("compare", 2, "files")
        bars.advance("compare", 2)
        bars.start("upload", 0, "bytes")
    left = out.getvalue().rsplit("\r", 1)[-1]
    assert "compare" in left
    assert "upload" not in left


def test_bars_of_what_failed_stay() -> None:
    out = StringIO()
    bars = Bars(Console(file=out, force_terminal=True, width=100), enabled=True)
    with bars:
        bars.start("upload", 9, "bytes")
        bars.__exit__(ValueError)
        assert "upload" in out.getvalue().rsplit("\r", 1)[-1]
