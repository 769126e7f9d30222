"""Values of secrets do not get into the log, in however many pieces they come."""

from __future__ import annotations

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
