"""Rows of points: what of metrics.jsonl is sent, and as what."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from atom_sdk.runner.api import ApiError
from atom_sdk.runner.config import AttemptPaths
from atom_sdk.runner.metric_rows import points_of, rows_of, take
from atom_sdk.runner.metrics import MetricSender

PLAIN = b'{"step": 3, "ts_ms": 5, "values": {"loss": 0.1, "n": 7}}'


def test_a_sound_line_is_sent_as_it_was_written() -> None:
    spaced = b'{ "step":1,"ts_ms":2,"values":{"\xc3\xa9":1e-3} }'
    found = take([PLAIN, spaced])
    assert found.rows == [PLAIN, spaced]
    assert (found.progress, found.skipped) == (None, 0)


@pytest.mark.parametrize(
    ("line", "row", "skipped"),
    [
        (b'{"step": "4", "ts_ms": 5.9, "values": {"a": "0.5"}}', {"a": 0.5}, 0),
        (b'{"step": 4, "ts_ms": 5, "values": {"a": NaN, "b": 1}}', {"a": "NaN", "b": 1.0}, 0),
        (b'{"step": 4, "ts_ms": 5, "values": {"a": -Infinity}}', {"a": "-Infinity"}, 0),
        (b'{"step": 4, "ts_ms": 5, "values": {"a": [1], "b": 1}}', {"b": 1.0}, 1),
        (b'{"step": 4, "ts_ms": 5, "values": {"a": true}}', {"a": 1.0}, 0),
        (b'{"step": 4, "ts_ms": 5, "values": {}}', None, 0),
        (b'{"step": 4, "ts_ms": 5, "values": {"a": [1]}}', None, 1),
        (b'{"step": Infinity, "ts_ms": 5, "values": {"a": 1}}', None, 1),
        (b'{"step": 4, "values": {"a": 1}}', None, 1),
        (b'{"step": 4, "ts_ms": 5, "values": [1]}', None, 1),
        (b"not json", None, 1),
        (b"", None, 1),
        (b"7", None, 1),
        (b"\xff\xfe", None, 1),
        (b"[" * 100_000, None, 1),
        # Two rows, or half of one, are no line.
        (PLAIN + b"," + PLAIN, None, 1),
        (b'{"step": 4, "ts_ms": 5, "values": {"a": 1', None, 1),
    ],
)
def test_other_lines_are_mended_or_skipped_beside_sound_ones(
    line: bytes, row: dict[str, Any] | None, skipped: int
) -> None:
    found = take([PLAIN, line, PLAIN])
    expected = [] if row is None else [{"step": 4, "ts_ms": 5, "values": row}]
    assert [json.loads(one) for one in found.rows[1:-1]] == expected
    assert json.loads(found.rows[0]) == json.loads(found.rows[-1]) == json.loads(PLAIN)
    assert found.skipped == skipped


def test_the_newest_progress_counts() -> None:
    found = take([b'{"progress": 0.1}', PLAIN, b'{"progress": 0.5, "text": "half"}'])
    assert found.progress == {"fraction": 0.5, "text": "half"}
    assert (found.rows, found.skipped) == ([PLAIN], 0)


def test_points_of_one_moment_are_one_row_and_come_back() -> None:
    points = [["a", 1, 5, 0.5], ["b", 1, 5, 1.0], ["a", 1, 5, 2.0], ["a", 2, 5, "NaN"]]
    rows = rows_of(points)
    assert len(rows) == 3
    assert points_of(b",".join(rows)) == points


class Server:
    """Answers each batch with what is asked for; keeps what came."""

    def __init__(self, status: int = 200) -> None:
        self.status = status
        self.came: list[dict[str, Any]] = []

    def post_json(self, name: str, body: bytes) -> dict[str, Any]:
        return self.post(name, json.loads(body))

    def post(self, name: str, data: dict[str, Any]) -> dict[str, Any]:
        self.came.append(data)
        if self.status >= 400 and "rows" in data:
            raise ApiError(self.status, {})
        return {"next_seq": data["seq"] + 1}


def sent_by(server: Server, folder: Path, *lines: bytes) -> MetricSender:
    paths = AttemptPaths(folder)
    paths.make_folders()
    paths.metrics.write_bytes(b"".join(line + b"\n" for line in lines))
    sender = MetricSender(server, paths)  # type: ignore[arg-type]  # the two calls that it makes
    sender.start()
    sender.finish(30)
    return sender


def test_a_server_that_knows_no_rows_gets_points(tmp_path: Path) -> None:
    server = Server(400)
    sender = sent_by(server, tmp_path, PLAIN)
    assert server.came[1] == {"seq": 0, "points": [["loss", 3, 5, 0.1], ["n", 3, 5, 7]]}
    assert sender.counters["metric_points_refused"] == 0


def test_a_batch_of_an_earlier_runner_is_sent_first(tmp_path: Path) -> None:
    paths = AttemptPaths(tmp_path)
    paths.make_folders()
    left = {"seq": 4, "offset": 0, "points": [["a", 1, 5, 0.5]]}
    (paths.spool / "metrics.json").write_text(json.dumps(left))
    server = Server()
    sent_by(server, tmp_path, PLAIN)
    assert [data["seq"] for data in server.came] == [4, 5]
    assert server.came[0]["rows"] == [{"step": 1, "ts_ms": 5, "values": {"a": 0.5}}]
    assert server.came[1]["rows"] == [json.loads(PLAIN)]


def test_a_batch_that_was_refused_for_good_is_counted(tmp_path: Path) -> None:
    server = Server(413)
    assert sent_by(server, tmp_path, PLAIN).counters["metric_points_refused"] == 2
    assert len(server.came) == 1
