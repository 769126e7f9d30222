"""Each detection has one kind of mistake, each object is matched or missed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.jobs.workflows.detection.conftest import Module

CAR, BIKE = 0, 1


class Paths:
    """The paths of pictures, by their place."""

    @staticmethod
    def path(place: int) -> str:
        """Return a path."""
        return f"{place}.png"


# An object of 100 by 100 at the origin.
THERE = (0.0, 0.0, 100.0, 100.0)
# It shares 90, 40 and 5 per cent of that object's width, and is as large.
NEAR, BESIDE, FAR = (10.0, 0, 110, 100), (50.0, 0, 150, 100), (95.0, 0, 195, 100)


def result(
    module: Module,
    true: list[Any],
    detected: list[Any],
    size: tuple[int, int] | None = None,
) -> Any:
    """Build a picture: true (box, class, is region), detected (box, class, score)."""
    return module("average_precision").PictureResult(
        np.array([one[0] for one in true], float).reshape(-1, 4),
        np.array([one[1] for one in true], np.int64),
        np.array([one[2] for one in true], bool),
        np.array([one[0] for one in detected], float).reshape(-1, 4),
        np.array([one[1] for one in detected], np.int64),
        np.array([one[2] for one in detected], float),
        size=size,
    )


def kinds(module: Module, true: list[Any], detected: list[Any], least: float = 0.3) -> list[str]:
    found = module("mistakes").findings_of(result(module, true, detected), least)
    return [one.kind.value for one in found]


@pytest.mark.parametrize(
    ("detected", "expected"),
    [
        ([(NEAR, CAR, 0.9)], ["right"]),
        ([(NEAR, CAR, 0.9), (THERE, CAR, 0.8)], ["right", "double"]),
        ([(NEAR, BIKE, 0.9)], ["wrong_class"]),
        ([(BESIDE, CAR, 0.9)], ["misplaced", "missed"]),
        ([(BESIDE, BIKE, 0.9)], ["wrong_and_misplaced", "missed"]),
        ([(FAR, CAR, 0.9)], ["false", "missed"]),
        ([(NEAR, CAR, 0.2)], ["missed"]),
        ([], ["missed"]),
    ],
)
def test_kinds_of_one_object(module: Module, detected: list[Any], expected: list[str]) -> None:
    assert kinds(module, [(THERE, CAR, False)], detected) == expected


def test_a_region_takes_detections_of_every_class(module: Module) -> None:
    inside = (20.0, 20, 60, 60)
    true = [(THERE, CAR, True)]
    assert kinds(module, true, [(inside, CAR, 0.9), (inside, BIKE, 0.8)]) == []
    assert kinds(module, true, [(FAR, CAR, 0.9)]) == ["false"]


def test_an_object_inside_a_region_counts(module: Module) -> None:
    inside = (20.0, 20, 60, 60)
    true = [(THERE, CAR, True), (inside, CAR, False)]
    assert kinds(module, true, [(inside, CAR, 0.9)]) == ["right"]
    assert kinds(module, true, []) == ["missed"]


def test_the_surest_detection_takes_the_object(module: Module) -> None:
    found = module("mistakes").findings_of(
        result(module, [(THERE, CAR, False)], [(NEAR, CAR, 0.5), (NEAR, CAR, 0.9)]), 0.1
    )
    assert [(one.kind.value, one.detection) for one in found] == [("right", 1), ("double", 0)]


def test_an_empty_picture_has_no_findings(module: Module) -> None:
    assert kinds(module, [], []) == []
    assert kinds(module, [], [(NEAR, CAR, 0.9)]) == ["false"]


@pytest.fixture
def evaluation(module: Module) -> Any:
    pictures = [
        result(
            module,
            [(THERE, CAR, False), ((200.0, 0, 300, 100), BIKE, False)],
            [(NEAR, CAR, 0.9), ((205.0, 0, 300, 100), CAR, 0.8), ((400.0, 0, 420, 20), BIKE, 0.4)],
            (640, 480),
        ),
        result(module, [(THERE, BIKE, False)], [(BESIDE, BIKE, 0.7)]),
    ]
    return module("evaluation").evaluate(list(enumerate(pictures)), ["car", "bike"], "val", 0.3)


def test_the_matrix_has_a_row_for_what_is_not_there(evaluation: Any) -> None:
    record = evaluation.record()
    assert record["labels"] == ["car", "bike", "nothing"]
    assert record["matrix"] == [[1, 0, 0], [1, 0, 1], [0, 2, 0]]
    assert (record["n"], record["accuracy"]) == (5, 0.2)
    assert record["kinds"] == {
        "right": 1, "double": 0, "wrong_class": 1, "misplaced": 1, "wrong_and_misplaced": 0,
        "false": 1, "missed": 1,
    }  # fmt: skip
    car, bike = record["per_class"]
    assert (car["n"], car["precision"], car["recall"]) == (1, 0.5, 1.0)
    assert (bike["n"], bike["precision"], bike["recall"], bike["f1"]) == (2, 0.0, 0.0, 0.0)


def test_the_record_is_one_that_the_registry_takes(evaluation: Any) -> None:
    import json

    from atom.models_registry.engines.evaluations import parse_evaluation

    parsed = parse_evaluation(json.dumps(evaluation.record()).encode())
    assert (parsed.n, parsed.labels[-1]) == (5, "nothing")
    assert 0 <= parsed.metrics["map_50"] <= 1


def test_a_class_may_be_called_nothing(module: Module) -> None:
    evaluation = module("evaluation").evaluate([], ["nothing"], "val", 0.5)
    assert evaluation.record()["labels"] == ["nothing", "nothing_"]


def test_the_threshold_is_where_precision_and_recall_are_best(module: Module) -> None:
    one = result(
        module,
        [(THERE, CAR, False), ((200.0, 0, 300, 100), CAR, False)],
        [(NEAR, CAR, 0.9), ((200.0, 0, 300, 100), CAR, 0.6), ((400.0, 0, 420, 20), CAR, 0.5)],
    )
    assert module("evaluation").best_threshold([one]) == 0.6
    assert module("evaluation").best_threshold([]) == 0.5


def test_predictions_are_a_file_that_the_server_reads(module: Module, evaluation: Any) -> None:
    import json

    from atom.jobs.predictions.engines.predictions import parse_predictions

    document = module("predictions").describe_predictions(evaluation, Paths())
    parsed = parse_predictions(json.dumps(document).encode())
    assert parsed.paths == ["0.png"] * 3 + ["1.png"] * 2
    assert parsed.true.tolist() == [0, 1, 2, 2, 1]
    assert parsed.predicted.tolist() == [0, 0, 1, 1, 2]
    assert document["box"][0] == [10.0, 0.0, 100.0, 100.0]
    places = parsed.places
    assert places is not None
    assert places.kinds == ["right", "wrong_class", "false", "misplaced", "missed"]
    assert places.sizes[0].tolist() == [640, 480]
    assert places.detected[3].tolist() == [50, 0, 100, 100]
    assert places.true[:2].tolist() == [[0, 0, 100, 100], [200, 0, 100, 100]]
    # Nothing is there, and nothing was detected; the second picture's size is not known.
    for row in (places.true[2], places.detected[4], places.sizes[4]):
        assert np.isnan(row).all()
    assert places.true[4].tolist() == [0, 0, 100, 100]


def test_a_detection_in_a_picture_without_objects_is_in_the_file(module: Module) -> None:
    pictures = [(0, result(module, [], [(NEAR, CAR, 0.9)]))]
    evaluation = module("evaluation").evaluate(pictures, ["car", "bike"], "test", 0.3)
    document = module("predictions").describe_predictions(evaluation, Paths())
    assert (document["true"], document["predicted"]) == ([2], [0])
    assert document["box"] == [[10.0, 0.0, 100.0, 100.0]]
