"""The pure parts: parameters, placement, failures, frames, points, curves."""

import math
import time
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom.core.field_errors import SLUG_RULE
from atom.jobs.failures.engines.failures import ExitReport, Limits, classify
from atom.jobs.logs.engines.log_search import Query, Search
from atom.jobs.metrics.engines import points
from atom.jobs.metrics.engines.downsampling import downsample
from atom.jobs.runs.engines import refs
from atom.jobs.scheduling.engines.placement import Demand, Fleet, NodeCapacity, never_fits, place
from atom.jobs.workflows.engines.parameters import Parameter, check_parameters
from atom_sdk.runner import frames
from atom_sdk.runner.frames import Frame

GIB = 2**30


def parameter(**fields: Any) -> Parameter:
    return Parameter(**{"name": "x", "type": "int", "title": "X", **fields})


# --- parameters


def test_parameters_get_their_defaults_and_types() -> None:
    fields = [
        parameter(name="epochs", type="int", default=3),
        parameter(name="rate", type="float"),
        parameter(name="fast", type="bool"),
        parameter(name="size", type="enum", choices=("s", "m")),
    ]
    checked = check_parameters(fields, {"rate": "1e-3", "fast": "yes", "size": "m"})
    assert checked.errors == {}
    assert checked.values == {"epochs": 3, "rate": 0.001, "fast": True, "size": "m"}


@pytest.mark.parametrize(
    ("field", "given_value", "said"),
    [
        (parameter(), "many", "Expected a whole number, got 'many'."),
        (parameter(), 1.5, "Expected a whole number, got 1.5."),
        (parameter(), True, "Expected a whole number, got True."),
        (parameter(min=1), 0, "Must be at least 1, got 0."),
        (parameter(max=4), 5, "Must be at most 4, got 5."),
        (parameter(type="float"), "nan", "Expected a finite number, got 'nan'."),
        (parameter(type="bool"), "maybe", "Expected true or false, got 'maybe'."),
        (parameter(type="string"), 3, "Expected text, got 3."),
        (parameter(type="enum", choices=("a", "b")), "c", "Choose one of a, b; got 'c'."),
        (parameter(required=True), None, "This parameter is required."),
        (parameter(type="dataset"), 7, "Expected a reference such as digits@v3, got 7."),
        (parameter(type="name"), "Bad Name!", SLUG_RULE),
        (parameter(type="name"), 7, SLUG_RULE),
    ],
)
def test_a_wrong_value_is_explained(field: Parameter, given_value: Any, said: str) -> None:
    assert check_parameters([field], {"x": given_value}).errors == {"x": [said]}


def test_an_unknown_parameter_is_named_with_the_known_ones() -> None:
    checked = check_parameters([parameter(name="epochs")], {"epoch": 3})
    assert checked.errors == {"epoch": ["This workflow has no parameter 'epoch'. It has: epochs."]}


def test_large_whole_numbers_keep_every_digit() -> None:
    assert check_parameters([parameter()], {"x": 2**60 + 1}).values == {"x": 2**60 + 1}


# --- placement


def node(number: int, **fields: Any) -> NodeCapacity:
    defaults = {"cpus": 4, "memory_bytes": 8 * GIB, "gpus": 0}
    return NodeCapacity(id=UUID(int=number), name=f"n{number}", **{**defaults, **fields})


def test_a_job_goes_where_its_data_is() -> None:
    placement = place([node(1), node(2, coverage=0.8)], Demand(1, GIB))
    assert placement.node is not None
    assert placement.node.name == "n2"
    assert "80% of the data" in placement.why


def test_a_job_fills_the_fuller_node() -> None:
    placement = place([node(1), node(2, used_cpus=2)], Demand(1, GIB))
    assert placement.node is not None
    assert placement.node.name == "n2"


def test_nodes_with_gpus_are_kept_for_jobs_that_need_them() -> None:
    placement = place([node(1, gpus=2, used_cpus=2), node(2)], Demand(1, GIB))
    assert placement.node is not None
    assert placement.node.name == "n2"


def test_a_job_that_waits_is_told_what_is_lacking() -> None:
    placement = place([node(1, used_cpus=3, used_memory_bytes=7 * GIB)], Demand(2, 2 * GIB))
    assert placement.node is None
    assert "n1 lacks 1 CPU, 1.0 GiB of memory" in placement.why
    assert placement.code == "no_room"
    lacking = {"node": "n1", "usable": True, "cpus": 1, "memory_bytes": GIB, "gpus": 0}
    lacking["accelerator"] = ""
    demand = {"cpus": 2, "memory_bytes": 2 * GIB, "gpus": 0, "accelerator": ""}
    assert placement.params == {**demand, "nodes": [lacking]}


def test_a_node_that_is_closed_takes_nothing() -> None:
    assert place([node(1, usable=False)], Demand(1, GIB)).node is None


def test_what_never_fits_is_named_by_resource() -> None:
    errors = never_fits([node(1)], Demand(8, GIB, 1))
    assert set(errors) == {"resources.cpus", "resources.gpus"}
    assert never_fits([node(1, used_cpus=4)], Demand(4, GIB)) == {}


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 8)), max_size=60))
def test_a_fleet_never_promises_more_than_it_has(jobs: list[tuple[int, int]]) -> None:
    fleet = Fleet([node(1), node(2, cpus=8), node(3, memory_bytes=2 * GIB)])
    taken = [[0.0, 0] for _ in fleet.nodes]
    for cpus, gib in jobs:
        index = fleet.choose(Demand(cpus, gib * GIB))
        if index is not None:
            taken[index][0] += cpus
            taken[index][1] += gib * GIB
    for one, (cpus_taken, bytes_taken) in zip(fleet.nodes, taken, strict=True):
        assert cpus_taken <= one.cpus
        assert bytes_taken <= one.memory_bytes


# --- failures

LIMITS = Limits(memory_bytes=2 * GIB, timeout_s=60, command=["train", "--fast"])


@pytest.mark.parametrize(
    ("report", "failure_class", "said"),
    [
        (
            ExitReport("exited", 1, traceback="Traceback…\nValueError: no"),
            "USER_CODE",
            "ValueError",
        ),
        (ExitReport("exited", None, 11), "USER_CODE", "SIGSEGV"),
        (ExitReport("oom", 137), "OOM_HOST", "2.0 GiB"),
        (ExitReport("exited", 1, traceback="MemoryError"), "OOM_HOST", "more memory"),
        (ExitReport("not_found", 127), "COMMAND_NOT_FOUND", "'train'"),
        (ExitReport("timeout", None, 9), "DEADLINE", "60 s"),
        (
            ExitReport("exited", 1, traceback="No such checkpoint.", stage="preparation"),
            "PREPARATION",
            "was not started: No such checkpoint.",
        ),
        (
            ExitReport("not_found", 127, stage="preparation"),
            "COMMAND_NOT_FOUND",
            "'train'",
        ),
        (ExitReport("runner_lost"), "RUNNER_LOST", "supervised"),
        (
            ExitReport("exited", 1, traceback="OSError: [Errno 30] no", disk="read_only"),
            "NODE_DISK",
            "was read-only when the job ended: OSError: [Errno 30] no",
        ),
        (ExitReport("exited", None, 7, tail="a\nb", disk="failing"), "NODE_DISK", "failing"),
        (
            ExitReport("exited", 1, traceback="OSError: [Errno 28] No space left on device"),
            "NODE_DISK",
            "The disk of the machine was full",
        ),
        (
            ExitReport("exited", 1, traceback="no room", stage="preparation", disk="full"),
            "NODE_DISK",
            "full when the job ended: no room",
        ),
        # Such as a dataset's folder, which is read-only on purpose.
        (ExitReport("exited", 1, traceback="OSError: [Errno 30] no"), "USER_CODE", "Errno 30"),
        (ExitReport("exited", 1, disk="what a job made up"), "USER_CODE", "exit code 1"),
    ],
)
def test_failures_in_plain_words(report: ExitReport, failure_class: str, said: str) -> None:
    failure = classify(report, LIMITS)
    assert failure is not None
    assert failure.failure_class == failure_class
    assert said in failure.reason
    assert failure.suggestion.endswith(".")


_FRAMES = 'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\n    go()\n'


@pytest.mark.parametrize(
    ("said", "error"),
    [
        (_FRAMES + "KeyError: 'x'", "KeyError: 'x'"),
        (_FRAMES + "RuntimeError: CUDA error\nCompile with DSA.\n\n", "RuntimeError: CUDA error"),
        (_FRAMES + "RuntimeError: In Net:\n\tMissing: fc", "RuntimeError: In Net: Missing: fc"),
        (_FRAMES + "KeyError: 1\n\nIn turn:\n\n" + _FRAMES + "ValueError\nmore", "ValueError"),
        (_FRAMES, ""),
        ("Traceback…\nValueError: no", "ValueError: no"),
    ],
)
def test_an_exception_is_told_by_its_own_line_not_by_the_end_of_its_message(
    said: str, error: str
) -> None:
    failure = classify(ExitReport("exited", 1, traceback=said), LIMITS)
    assert failure is not None
    assert failure.params.get("error", "") == error


def test_a_failure_carries_what_its_sentence_names() -> None:
    failure = classify(ExitReport("exited", 3, traceback="Traceback…\nValueError: no"), LIMITS)
    assert failure is not None
    assert failure.code == "exited_with_error"
    assert failure.params == {"exit_code": 3, "error": "ValueError: no"}
    failure = classify(ExitReport("oom", 137), LIMITS)
    assert failure is not None
    assert failure.code == "out_of_memory"
    assert failure.params == {"memory_bytes": 2 * GIB, "enough_bytes": 4 * GIB}


def test_success_and_cancellation_are_no_failures() -> None:
    assert classify(ExitReport("exited", 0), LIMITS) is None
    assert classify(ExitReport("cancelled", None, 15), LIMITS) is None
    assert classify(ExitReport("exited", 0, disk="read_only"), LIMITS) is None


# --- log frames

PAYLOADS = st.lists(
    st.tuples(st.sampled_from([1, 2]), st.binary(min_size=1, max_size=40)), max_size=8
)


def build(payloads: list[tuple[int, bytes]]) -> list[Frame]:
    found, offset = [], 0
    for fd, payload in payloads:
        found.append(Frame(fd, offset, 7, payload.count(b"\n"), payload))
        offset += len(payload)
    return found


@given(PAYLOADS)
def test_frames_survive_the_wire(payloads: list[tuple[int, bytes]]) -> None:
    made = build(payloads)
    body = frames.encode(made)
    assert list(frames.decode(body, 0)) == made
    extent = frames.measure(body)
    assert extent.payload_bytes == sum(len(payload) for _, payload in payloads)
    assert extent.lines == sum(payload.count(b"\n") for _, payload in payloads)


@given(PAYLOADS, st.integers(0, 330), st.integers(0, 330))
def test_a_cut_holds_exactly_its_bytes(
    payloads: list[tuple[int, bytes]], start: int, length: int
) -> None:
    whole = b"".join(payload for _, payload in payloads)
    found = list(frames.cut(build(payloads), start, start + length))
    assert b"".join(frame.payload for frame in found) == whole[start : start + length]
    for frame in found:
        assert whole[frame.byte_off : frame.end] == frame.payload


@given(PAYLOADS, st.integers(0, 330))
def test_skipping_drops_payload_bytes_only(payloads: list[tuple[int, bytes]], count: int) -> None:
    whole = b"".join(payload for _, payload in payloads)
    left = frames.skip(frames.encode(build(payloads)), count)
    assert b"".join(frame.payload for frame in frames.decode(left, 0)) == whole[count:]


@pytest.mark.parametrize(
    "damage", [lambda body: body[:-1], lambda body: body[:10], lambda b: b"\x09" + b[1:]]
)
def test_a_damaged_body_is_refused(damage: Any) -> None:
    body = frames.encode([Frame(1, 0, 7, 1, b"hello\n")])
    with pytest.raises(frames.FrameError):
        frames.measure(damage(body))


def test_search_ignores_case_and_escapes_and_gives_offsets() -> None:
    looking = Search(Query("error"))
    looking.feed(Frame(1, 100, 7, 3, b"one\n\x1b[31mERR\x1b[0mor here\nthree\n"))
    (match,) = looking.matches
    assert (match.line.byte_off, match.text) == (104, "ERRor here")


# --- metrics

ROWS = st.lists(
    st.tuples(st.integers(-(2**40), 2**40), st.integers(0, 2**43), st.floats(width=64)),
    min_size=1,
    max_size=50,
)


@given(ROWS)
def test_points_survive_their_chunk(rows: list[tuple[int, int, float]]) -> None:
    made = points.points_from([("loss", *row) for row in rows])
    back = points.decode(points.encode(made))
    assert back.steps.tolist() == made.steps.tolist()
    assert back.ts_ms.tolist() == made.ts_ms.tolist()
    np.testing.assert_array_equal(back.values, made.values)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(-9, 9), st.integers(0, 99))))
def test_points_of_each_key_keep_their_order(rows: list[tuple[str, int, int]]) -> None:
    found = points.points_by_key([(*row, float(row[1])) for row in rows])
    assert {key: list(zip(some.steps, some.ts_ms, strict=True)) for key, some in found.items()} == {
        key: [(step, ts_ms) for one, step, ts_ms in rows if one == key]
        for key in dict.fromkeys(key for key, *_ in rows)
    }


def test_differences_beyond_64_bits_come_back() -> None:
    far = 2**63 - 1
    made = points.points_from([("a", step, 1, 0.0) for step in (far, -far, far, 0)])
    assert points.decode(points.encode(made)).steps.tolist() == [far, -far, far, 0]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([2.0, -1.0, 3.0], (-1.0, 3.0)),
        ([math.nan, 2.0, math.inf], (2.0, 2.0)),
        ([-math.inf, 1.0], (1.0, 1.0)),
        ([math.nan], (None, None)),
    ],
)
def test_the_range_of_values_is_of_the_finite_ones(
    values: list[float], expected: tuple[float | None, float | None]
) -> None:
    assert curve(values).value_range() == expected


def curve(values: Any) -> points.Points:
    values = np.asarray(values, dtype=np.float64)
    steps = np.arange(len(values), dtype=np.int64)
    return points.Points(steps, steps * 1000, values)


def test_downsampling_keeps_peaks_and_ends() -> None:
    values = np.sin(np.arange(1_000_000) / 5000)
    values[314_159] = 50.0
    values[271_828] = -50.0
    small = downsample(curve(values), 1000)
    assert len(small) <= 1000
    assert {314_159, 271_828, 0, 999_999} <= set(small.steps.tolist())
    assert (np.diff(small.steps) > 0).all()


def test_downsampling_survives_a_diverging_loss() -> None:
    values = np.linspace(1, 2, 10_000)
    values[5_000:5_010] = math.nan
    values[7_000] = math.inf
    small = downsample(curve(values), 100)
    assert len(small) <= 100
    assert not np.isfinite(small.values).all()


def test_a_short_curve_stays_whole() -> None:
    assert len(downsample(curve([1, 2, 3]), 100)) == 3


def test_steps_that_were_logged_again_after_a_resume_count_once() -> None:
    first = points.points_from([("a", 1, 10, 1.0), ("a", 2, 20, 2.0), ("a", 3, 30, 3.0)])
    again = points.points_from([("a", 2, 40, 2.5), ("a", 3, 50, 3.5), ("a", 4, 60, 4.5)])
    small = downsample(points.join(first, again), 100)
    assert small.steps.tolist() == [1, 2, 3, 4]
    assert small.values.tolist() == [1.0, 2.5, 3.5, 4.5]


# --- references


@pytest.mark.parametrize(
    ("given_text", "parts"),
    [
        ("digits@v3", (None, "digits", "v3")),
        ("digits", (None, "digits", "main")),
        ("atom://vision/digits@main", ("vision", "digits", "main")),
    ],
)
def test_references(given_text: str, parts: tuple[str | None, str, str]) -> None:
    reference = refs.parse_reference(given_text)
    assert (reference.project, reference.name, reference.ref) == parts


@pytest.mark.parametrize("given_text", ["", "@v3", "digits@", "a/b@v1", "atom://digits"])
def test_what_is_no_reference(given_text: str) -> None:
    with pytest.raises(refs.BadReferenceError):
        refs.parse_reference(given_text)


def test_thousands_of_jobs_are_placed_in_one_go() -> None:
    fleet = Fleet([node(number, cpus=64, memory_bytes=256 * GIB) for number in range(1000)])
    started = time.monotonic()
    placed = sum(fleet.choose(Demand(4, 16 * GIB)) is not None for _ in range(10_000))
    assert placed == 10_000
    # A generous bound: the point is that the cost does not grow with queue times nodes in Python.
    assert time.monotonic() - started < 30
