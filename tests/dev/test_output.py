import io
import json

from atom.dev.output import Terminal, readable


def test_json_lines_become_readable() -> None:
    line = json.dumps(
        {"event": "pack_built", "level": "info", "timestamp": "2026-01-02T03:04:05Z", "packs": 7}
    )
    assert readable(line).endswith("info    pack_built packs=7")


def test_other_lines_stay_as_they_are() -> None:
    for line in ("plain text", "{not json", '{"no": "event"}', "[1]"):
        assert readable(line) == line


def test_lines_carry_the_name_of_their_process_without_colours_in_a_file() -> None:
    stream = io.StringIO()
    Terminal(stream).line("web", "hello")
    assert stream.getvalue() == "web      | hello\n"


def test_in_the_background_only_the_launchers_own_lines_are_kept() -> None:
    stream = io.StringIO()
    terminal = Terminal(stream)
    terminal.echo("web", "a request")
    terminal.echoes = False
    terminal.echo("web", "another request")
    terminal.line("web", "ended with code 1; starting it again in 0.5 s")
    assert [line.split(" | ")[1] for line in stream.getvalue().splitlines()] == [
        "a request",
        "ended with code 1; starting it again in 0.5 s",
    ]
