"""Values of secrets do not get into the log, in however many pieces they come."""

from __future__ import annotations

import re
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from atom_sdk.runner.redaction import MASK, Redactor
from tests.sdk.runner.conftest import Attempt
from tests.sdk.runner.server import RunnerServer

SECRET = "hf_0123456789abcdef"


def shown(redactor: Redactor, pieces: list[bytes]) -> bytes:
    return b"".join([*map(redactor.feed, pieces), redactor.flush()])


@given(
    st.lists(st.text("abc", min_size=4, max_size=8), max_size=3),
    st.text("abc \n", max_size=60),
    st.lists(st.integers(0, 60), max_size=6),
)
def test_whatever_the_pieces_the_same_is_shown_and_no_value(
    values: list[str], text: str, cuts: list[int]
) -> None:
    data = text.encode()
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    pieces = [data[a:b] for a, b in pairwise(edges)]
    found = shown(Redactor(values), pieces)
    assert not any(value.encode() in found for value in values)
    if len(values) < 2:
        assert found == shown(Redactor(values), [data])


@given(
    st.lists(st.sampled_from(["a", "b", "c", "\x1b[31m", "\x1b[0m", "\n"]), max_size=40), st.data()
)
def test_no_value_is_whole_again_without_the_colours_in_it(
    text: list[str], cut: st.DataObject
) -> None:
    data = "".join(text).encode()
    at = cut.draw(st.integers(0, len(data)))
    found = shown(Redactor(["abca", "bbcab"]), [data[:at], data[at:]])
    plain = re.sub(rb"\x1b\[[0-9]*m", b"", found)
    assert not any(value in plain for value in (b"abca", b"bbcab"))
    colours = re.findall(rb"\x1b\[[0-9]*m", data)
    assert re.findall(rb"\x1b\[[0-9]*m", found) == colours


def test_a_value_in_colours_is_masked_and_what_comes_after_keeps_them() -> None:
    text = b"key: hf_\x1b[1m0123456789\x1b[0mabcdef.\n"
    assert shown(Redactor([SECRET]), [text]) == b"key: ***\x1b[1m\x1b[0m.\n"
    assert shown(Redactor([SECRET]), [text[:9], text[9:15], text[15:]]) == (
        b"key: ***\x1b[1m\x1b[0m.\n"
    )


def test_colours_without_end_after_the_beginning_of_a_value_are_not_held_for_ever() -> None:
    redactor = Redactor([SECRET])
    assert sum(len(redactor.feed(b"hf_" + b"\x1b[0m" * 30_000)) for _ in range(5)) > 400_000


def test_text_without_a_value_stays_as_it_is() -> None:
    assert shown(Redactor([SECRET]), [b"hf_0123 is no value\n", b"hf_"]) == (
        b"hf_0123 is no value\nhf_"
    )


def test_what_cannot_begin_a_value_is_not_held_back() -> None:
    redactor = Redactor([SECRET])
    assert redactor.feed(b"epoch 1\n") == b"epoch 1\n"
    assert redactor.feed(b"token hf_01") == b"token "
    assert redactor.feed(b"99\n") == b"hf_0199\n"


def test_each_line_of_a_private_key_is_masked() -> None:
    key = "-----BEGIN KEY-----\nAAAAB3NzaC1yc2E\n=\n-----END KEY-----\n"
    said = shown(Redactor([key]), [b"> AAAAB3NzaC1yc2E <\n=\n"])
    assert said == b"> " + MASK + b" <\n=\n"


def test_a_command_gets_its_secrets_and_its_log_does_not(
    attempt: Attempt, server: RunnerServer
) -> None:
    code = (
        "import os, sys, time; value = os.environ['HF_TOKEN']; print('got', len(value));"
        "sys.stdout.write(value[:7]); sys.stdout.flush(); time.sleep(0.2); print(value[7:]);"
        "raise ValueError(value)"
    )
    attempt.python(code, secrets={"HF_TOKEN": SECRET})
    report = attempt.exit_report()
    assert {"got 19", "***", "ValueError: ***"} <= set(server.lines())
    assert SECRET.encode() not in server.state.log
    assert report["evidence"]["traceback"].endswith("ValueError: ***")
