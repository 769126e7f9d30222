"""Lines out of bytes, and few of a progress bar's redraws."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from atom_sdk.runner.collapse import LineCollapser


def everything(chunks: list[bytes], step_s: float = 0.0) -> bytes:
    lines, out, now_s = LineCollapser(), b"", 0.0
    for chunk in chunks:
        out += lines.feed(chunk, now_s) + lines.flush(now_s)
        now_s += step_s
    return out + lines.flush(now_s, final=True)


def screen(text: bytes) -> list[bytes]:
    """Return what a terminal shows when every redraw replaces its whole line."""
    return [
        line.rstrip(b"\r").rsplit(b"\r", 1)[-1]
        for line in text.replace(b"\r\n", b"\n").split(b"\n")
    ]


@given(st.lists(st.binary().map(lambda data: data.replace(b"\r", b"")), max_size=20))
def test_without_redraws_not_a_byte_changes(chunks: list[bytes]) -> None:
    assert everything(chunks, 0.06) == b"".join(chunks)


@given(
    st.lists(st.text(alphabet="ab\n", max_size=6).map(str.encode), max_size=20),
    st.floats(0, 0.7),
)
def test_the_last_state_of_every_line_survives(states: list[bytes], step_s: float) -> None:
    chunks = [b"\r" + state for state in states]
    assert screen(everything(chunks, step_s)) == screen(b"".join(chunks))


def test_windows_line_ends_are_no_redraws() -> None:
    assert everything([b"one\r", b"\ntwo\r\n"]) == b"one\r\ntwo\r\n"


def test_only_the_last_of_many_redraws_in_one_read_comes_out() -> None:
    assert everything([b"\r1%\r2%\r3%\ndone\n"]) == b"3%\ndone\n"


def test_bars_that_end_with_a_return_keep_their_last_state() -> None:
    assert everything([b"1%\r", b"2%\r", b"3%\r"]) == b"3%"


def test_redraws_come_once_a_second() -> None:
    lines, out = LineCollapser(), []
    for tick in range(400):
        now_s = tick / 100
        out.append(lines.feed(b"\r%d" % tick, now_s) + lines.flush(now_s))
    shown = [text for text in out if text]
    assert 4 <= len(shown) <= 5
    assert all(text.startswith(b"\r") for text in shown[1:])


def test_a_prompt_without_a_line_end_comes_out_soon() -> None:
    lines = LineCollapser()
    assert lines.feed(b"Loading", 0.0) == b""
    assert lines.flush(0.05) == b""
    assert lines.flush(0.15) == b"Loading"
    assert lines.feed(b" done\n", 1.0) == b" done\n"


def test_a_character_that_comes_byte_by_byte_is_never_let_out_in_parts() -> None:
    lines, pieces, now_s = LineCollapser(), [], 0.0
    for byte in "日本語🙂ж".encode():
        now_s += 1.0
        pieces += [lines.feed(bytes([byte]), now_s), lines.flush(now_s + 0.5)]
    assert [piece.decode() for piece in pieces if piece] == [*"日本語🙂ж"]


def test_a_long_line_is_cut_between_characters_and_loses_no_byte() -> None:
    for shift in range(4):
        data = b"x" * shift + "🙂".encode() * 40_000
        lines = LineCollapser()
        first = lines.feed(data[:100_001], 0.0)
        first.decode()
        assert first + lines.feed(data[100_001:], 0.0) + lines.flush(0.0, final=True) == data


def test_a_very_long_line_does_not_grow_in_memory() -> None:
    assert LineCollapser().feed(b"x" * 100_000, 0.0) == b"x" * 100_000
