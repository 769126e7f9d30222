"""Predictions of a run's model: filtered, ordered by confidence, page by page."""

from __future__ import annotations

import json
from typing import Any

import pytest
from rest_framework.test import APIClient

from atom.jobs.predictions.engines.predictions import (
    MalformedPredictions,
    PredictionFilter,
    chosen,
    parse_predictions,
)
from tests.factories.accounts import make_member, make_project
from tests.factories.datasets import make_dataset, make_version
from tests.factories.jobs import make_attempt, make_run
from tests.factories.models_registry import store_file

DOCUMENT = {
    "format": "atom-predictions/1",
    "split": "test",
    "labels": ["5", "8"],
    "total": 4,
    "path": ["5/1.png", "5/2.png", "8/1.png", "8/2.png"],
    "true": [0, 0, 1, 1],
    "predicted": [0, 1, 0, 1],
    "confidence": [0.99, 0.6, 0.8, 0.7],
}

PLACES = {
    "kind": ["right", "misplaced", "missed", "false"],
    "box": [[1, 2, 30, 40], [5, 6, 7, 8], [9, 9, 9, 9], [0.5, 0, 2, 2]],
    "truth_box": [[1, 2, 30, 40], [4, 6, 9, 9], [9, 9, 9, 9], None],
    "size": [[64, 48], [64, 48], [64, 48], None],
}


def paths(**wanted: Any) -> list[str]:
    predictions = parse_predictions(json.dumps(DOCUMENT).encode())
    rows = chosen(predictions, PredictionFilter(**wanted))
    return [predictions.paths[row] for row in rows]


def test_filters_and_order() -> None:
    assert paths() == ["5/1.png", "8/1.png", "8/2.png", "5/2.png"]
    assert paths(wrong=True) == ["8/1.png", "5/2.png"]
    assert paths(wrong=True, ascending=True) == ["5/2.png", "8/1.png"]
    assert paths(true="8", predicted="5") == ["8/1.png"]
    assert paths(wrong=False, least=0.9) == ["5/1.png"]
    assert paths(true="9") == []


@pytest.mark.parametrize(
    "change",
    [
        {"format": "other"},
        {"labels": "5"},
        {"true": [0, 0, 1]},
        {"predicted": [0, 1, 0, 2]},
        {"predicted": [0, 1, 0, True]},
        {"confidence": [0.9, 0.9, 0.9, 1.5]},
        {"path": [1, 2, 3, 4]},
        {**PLACES, "kind": ["right"]},
        {**PLACES, "size": [[64, 48]]},
        {**PLACES, "size": [[64, 48, 3], None, None, None]},
        {**PLACES, "box": [[1, 2, 3, -4], None, None, None]},
        {**PLACES, "truth_box": [[1, 2, 3, "4"], None, None, None]},
        {**PLACES, "truth_box": [[1, 2, 3, 1e12], None, None, None]},
    ],
)
def test_a_file_of_another_form_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(MalformedPredictions):
        parse_predictions(json.dumps({**DOCUMENT, **change}).encode())


@pytest.mark.django_db
def test_the_page_shows_the_files_and_goes_on() -> None:
    project = make_project("vision")
    made = [str(path) for path in DOCUMENT["path"]]  # type: ignore[attr-defined]
    version = make_version(make_dataset(project, "digits"), {path: path[0] for path in made})
    run = make_run(project)
    run.inputs.create(alias="dataset", version=version)
    client = APIClient()
    client.force_authenticate(make_member(project, "viewer"))
    address = f"/api/v1/runs/{run.pk}/predictions/"
    assert client.get(address).json()["code"] == "predictions_missing"
    store_file(make_attempt(run), "predictions.json", json.dumps(DOCUMENT).encode())
    first = client.get(address, {"wrong": "true", "limit": "1"}).json()
    assert (first["total"], first["dataset"], first["ref"]) == (2, "digits", "v1")
    (row,) = first["results"]
    assert (row["path"], row["true"], row["predicted"]) == ("8/1.png", "8", "5")
    assert row["entry"]["thumb_url"]
    following: dict[str, Any] = {"wrong": "true", "limit": 1, "cursor": first["next"]}
    last = client.get(address, following).json()
    assert ([one["path"] for one in last["results"]], last["next"]) == (["5/2.png"], None)
    assert client.get(address, {"confidence_min": "2"}).status_code == 400


@pytest.mark.django_db
def test_rows_of_a_detector_say_where() -> None:
    project = make_project("vision")
    run = make_run(project)
    client = APIClient()
    client.force_authenticate(make_member(project, "viewer"))
    store_file(make_attempt(run), "predictions.json", json.dumps({**DOCUMENT, **PLACES}).encode())
    rows = client.get(f"/api/v1/runs/{run.pk}/predictions/").json()["results"]
    places = {row["path"]: row["place"] for row in rows}
    size = {"width": 64, "height": 48}
    assert places == {
        "5/1.png": {**size, "kind": "right", "detected": [1, 2, 30, 40], "true": [1, 2, 30, 40]},
        "5/2.png": {**size, "kind": "misplaced", "detected": [5, 6, 7, 8], "true": [4, 6, 9, 9]},
        "8/1.png": {**size, "kind": "missed", "detected": None, "true": [9, 9, 9, 9]},
        # The size of its picture is not known.
        "8/2.png": None,
    }


def test_an_older_file_of_a_detector_is_read_without_places() -> None:
    older = {name: PLACES[name] for name in ("kind", "box")}
    assert parse_predictions(json.dumps({**DOCUMENT, **older}).encode()).places is None
