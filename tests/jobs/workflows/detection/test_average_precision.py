"""Average precision equals that of pycocotools, the reference, on any detections."""

from __future__ import annotations

import contextlib
import io
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

from tests.jobs.workflows.detection.conftest import Module

CLASSES = 3


@dataclass
class Drawn:
    """Objects and detections of one picture: rows of (x, y, width, height, class, more).

    More is 1 for a region to ignore, of a detection its score.
    """

    objects: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 6)))
    detections: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 6)))


def draw(seed: int, pictures: int = 12) -> list[Drawn]:
    """Return objects, and detections near them, twice, beside them and of other classes."""
    random = np.random.default_rng(seed)
    return [_picture(random) for _ in range(pictures)]


def _picture(random: np.random.Generator) -> Drawn:
    count = int(random.integers(0, 9))
    place = random.uniform(0, 300, (count, 2))
    side = np.exp(random.uniform(np.log(4), np.log(220), (count, 2)))
    code = random.integers(0, CLASSES, (count, 1))
    region = random.random((count, 1)) < 0.2
    objects = np.hstack([place, side, code, region]).astype(float)
    repeats = random.integers(0, 4, count)
    near = np.repeat(objects[:, :5], repeats, axis=0)
    near[:, :4] += random.normal(0, 0.15, (len(near), 4)) * np.tile(near[:, 2:4], 2)
    near[:, 2:4] = np.maximum(near[:, 2:4], 1)
    other = random.random(len(near)) < 0.15
    near[other, 4] = random.integers(0, CLASSES, int(other.sum()))
    false = np.hstack(
        [random.uniform(0, 300, (6, 2)), random.uniform(2, 150, (6, 2)),
         random.integers(0, CLASSES, (6, 1))]
    )  # fmt: skip
    detections = np.vstack([near, false]) if len(near) else false
    # Few different scores: equal ones keep their order.
    score = np.round(random.random((len(detections), 1)), int(random.integers(1, 4)))
    return Drawn(objects, np.hstack([detections, score]))


def reference(pictures: list[Drawn]) -> Any:
    """Return pycocotools' evaluation."""
    objects: list[dict[str, Any]] = []
    detections: list[dict[str, Any]] = []
    for number, one in enumerate(pictures, 1):
        for row in one.objects:
            x, y, width, height, code, region = row.tolist()
            objects.append(
                {"id": len(objects) + 1, "image_id": number, "category_id": int(code) + 1,
                 "bbox": [x, y, width, height], "area": width * height, "iscrowd": int(region)}
            )  # fmt: skip
        for row in one.detections:
            x, y, width, height, code, score = row.tolist()
            detections.append(
                {"image_id": number, "category_id": int(code) + 1,
                 "bbox": [x, y, width, height], "score": score}
            )  # fmt: skip
    with contextlib.redirect_stdout(io.StringIO()):
        coco = COCO()
        coco.dataset = {
            "info": {},
            "images": [{"id": number} for number in range(1, len(pictures) + 1)],
            "categories": [{"id": code} for code in range(1, CLASSES + 1)],
            "annotations": objects,
        }
        coco.createIndex()
        evaluation = COCOeval(coco, coco.loadRes(detections) if detections else coco, "bbox")
        if not detections:
            evaluation.cocoDt = COCO()
            evaluation.cocoDt.dataset = {**coco.dataset, "annotations": []}
            evaluation.cocoDt.createIndex()
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    return evaluation


def results(module: Module, pictures: list[Drawn]) -> list[Any]:
    picture_result = module("average_precision").PictureResult
    found = []
    for one in pictures:
        true, mine = one.objects, one.detections
        found.append(
            picture_result(
                true_boxes=edges(true),
                true_codes=true[:, 4].astype(np.int64),
                true_ignored=true[:, 5].astype(bool),
                boxes=edges(mine),
                codes=mine[:, 4].astype(np.int64),
                scores=mine[:, 5],
                true_areas=true[:, 2] * true[:, 3],
            )
        )
    return found


def edges(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.hstack([rows[:, :2], rows[:, :2] + rows[:, 2:4]])


def check(module: Module, pictures: list[Drawn]) -> None:
    table = module("average_precision").measure_precision(results(module, pictures), CLASSES)
    expected = reference(pictures)
    np.testing.assert_allclose(table.precision, expected.eval["precision"], rtol=0, atol=1e-12)
    np.testing.assert_allclose(table.recall, expected.eval["recall"], rtol=0, atol=1e-12)
    np.testing.assert_allclose(table.scores, expected.eval["scores"], rtol=0, atol=1e-12)
    mine = list(table.summary().values())
    np.testing.assert_allclose(mine, expected.stats, rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", range(12))
def test_random_detections(module: Module, seed: int) -> None:
    check(module, draw(seed))


def test_more_than_a_hundred_detections_in_a_picture(module: Module) -> None:
    random = np.random.default_rng(5)
    one = draw(1, 1)[0]
    rows = np.repeat(one.detections, 30, axis=0)
    rows[:, :2] += random.normal(0, 8, (len(rows), 2))
    rows[:, 5] = np.round(random.random(len(rows)), 2)
    check(module, [Drawn(one.objects, rows), *draw(2, 3)])


ROW = np.array([[10.0, 20.0, 40.0, 60.0, 1.0, 0.0]])
REGION = np.array([[10.0, 20.0, 40.0, 60.0, 1.0, 1.0]])
EXACT = np.array([[10.0, 20.0, 40.0, 60.0, 1.0, 0.9]])
# Half of the object's width, so an overlap of exactly 0.5.
HALF = np.array([[10.0, 20.0, 20.0, 60.0, 1.0, 0.9]])
ON_A_LIMIT = np.array([[0.0, 0.0, 32.0, 32.0, 0.0, 0.0], [50.0, 0.0, 96.0, 96.0, 0.0, 0.0]])


@pytest.mark.parametrize(
    "pictures",
    [
        [Drawn()],
        [Drawn(ROW)],
        [Drawn(detections=EXACT)],
        [Drawn(ROW, EXACT)],
        [Drawn(ROW, HALF)],
        [Drawn(REGION, EXACT)],
        [Drawn(np.vstack([ROW, REGION]), np.vstack([EXACT, EXACT, HALF]))],
        [Drawn(np.vstack([ROW, ROW]), np.vstack([EXACT, EXACT, EXACT]))],
        [Drawn(ROW), Drawn(detections=EXACT), Drawn(), Drawn(ROW, EXACT)],
        [Drawn(ON_A_LIMIT, np.hstack([ON_A_LIMIT[:, :5], [[0.5], [0.5]]]))],
    ],
)
def test_degenerate_sets(module: Module, pictures: list[Drawn]) -> None:
    check(module, pictures)


def test_a_perfect_detector_has_one_and_none_has_zero(module: Module) -> None:
    measure = module("average_precision").measure_precision
    perfect = measure(results(module, [Drawn(ROW, EXACT)]), CLASSES).summary()
    shown = [perfect[name] for name in ("map", "map_50", "recall_100")]
    assert shown == pytest.approx([1.0, 1.0, 1.0])
    assert measure(results(module, [Drawn(ROW)]), CLASSES).summary()["map"] == 0.0
    assert measure(results(module, [Drawn()]), CLASSES).summary()["map"] == -1.0
