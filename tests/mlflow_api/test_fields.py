"""The types of the fields of every request, and MLflow's sentences for what is wrong with one."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from atom.mlflow_api import urls
from atom.mlflow_api.engines.fields import FIELDS, Field
from tests.mlflow_api.conftest import Mlflow

pytestmark = pytest.mark.django_db

# The smallest value that each kind of field takes.
VALUES: dict[str, Any] = {
    "text": "x", "whole": 1, "number": 1.0, "flag": True, "list": [], "texts": [], "word": "READY",
}  # fmt: skip
METHODS = ("get", "post", "put", "patch", "delete")
BODIES = sorted(endpoint for endpoint in FIELDS if not endpoint.startswith("GET"))


def sentence(mlflow: Mlflow, path: str, body: Any, *, method: str = "POST") -> str:
    """Return why a request is refused."""
    answer = mlflow(method, path, body)
    assert answer.status_code == 400, answer.content
    assert answer.json()["error_code"] == "INVALID_PARAMETER_VALUE"
    return str(answer.json()["message"])


def test_each_endpoint_has_a_row_in_the_table() -> None:
    views = {**urls._VIEWS, **urls._ARTIFACTS}
    routes = {
        f"{method.upper()} {route}"
        for route, view in views.items()
        for method in METHODS
        if hasattr(view, method)
    }
    assert routes == set(FIELDS)


def test_a_number_in_a_text_field_of_any_endpoint_is_refused(mlflow: Mlflow) -> None:
    for endpoint in BODIES:
        for field in FIELDS[endpoint]:
            if field.kind == "text":
                _expect_refusal(mlflow, endpoint, field)


def _expect_refusal(mlflow: Mlflow, endpoint: str, field: Field) -> None:
    method, route = endpoint.split(" ")
    path = route.replace("<str:model_id>", "m-1").replace("<path:path>", "runs/1/a")
    root = "mlflow-artifacts" if route.startswith("mpu/") else "mlflow"
    body = {one.name: VALUES[one.kind] for one in FIELDS[endpoint]}
    answer = mlflow(method, path, {**body, field.name: 31}, root=root)
    assert answer.status_code == 400, (endpoint, field.name, answer.content)
    start = f"Invalid value 31 for parameter '{field.name}' supplied:  Hint: Value was of type"
    assert answer.json()["message"].startswith(start), (endpoint, field.name)


@pytest.mark.parametrize(
    ("path", "body", "start"),
    [
        ("experiments/create", {"name": 123}, "Invalid value 123 for parameter 'name' supplied"),
        ("experiments/create", {}, "Missing value for required parameter 'name'"),
        ("experiments/create", {"name": "e", "artifact_location": 9.0},
         "Invalid value 9.0 for parameter 'artifact_location'"),
        ("experiments/create", {"name": "e", "tags": "5"},
         "Invalid value \"5\" for parameter 'tags'"),
        ("experiments/create", {"name": "e", "tags": [{"key": "k", "value": 5}]},
         "Invalid value 5 for parameter 'tags[0].value'"),
        ("runs/log-metric", {"key": "m", "value": 1, "timestamp": 1, "step": "foo"},
         "Invalid value \"foo\" for parameter 'step' supplied"),
        ("runs/log-metric", {"key": "m", "value": 1, "timestamp": "foo"},
         "Invalid value \"foo\" for parameter 'timestamp' supplied"),
        ("runs/log-metric", {"key": "m", "timestamp": 1},
         "Missing value for required parameter 'value'"),
        ("runs/log-batch", {"metrics": "foo"}, "Invalid value \"foo\" for parameter 'metrics'"),
        ("runs/log-batch", {"params": "foo"}, "Invalid value \"foo\" for parameter 'params'"),
        ("runs/log-batch", {"metrics": [{"key": "mae", "value": 2.5}]},
         "Missing value for required parameter 'metrics[0].timestamp'"),
        ("runs/log-batch", {"params": [{"key": "k", "value": "a"}] * 2},
         "Duplicate parameter keys have been submitted: ['k']. Please ensure"),
        ("runs/log-batch", {"params": [{"key": "k" * 251, "value": "a"}]},
         "'Param key' exceeds the maximum length of 250 characters"),
        ("runs/log-batch", {"tags": [{"key": f"{at}"} for at in range(101)]},
         "A batch logging request can contain at most 100 tags. Got 101 tags. Please split"),
        ("runs/log-batch",
         {"metrics": [{"key": "m", "value": 1, "timestamp": 1}] * 999,
          "params": [{"key": "k"}, {"key": "l"}]},
         "A batch logging request can contain at most 1000 metrics, params, and tags. Got 1001"),
        ("runs/search", {"max_results": 123456789},
         "Invalid value 123456789 for parameter 'max_results' supplied"),
        ("runs/search", {"max_results": 0},
         "Invalid value 0 for parameter 'max_results' supplied. It must be a positive integer"),
        ("runs/search", {"page_token": "x"}, "Invalid page token"),
    ],
)  # fmt: skip
def test_wrong_values_are_refused_in_mlflows_words(
    mlflow: Mlflow, path: str, body: dict[str, Any], start: str
) -> None:
    assert sentence(mlflow, path, {"run_id": mlflow.run(), **body}).startswith(start)


def test_a_path_that_climbs_is_refused_in_mlflows_words(mlflow: Mlflow) -> None:
    run = mlflow.run()
    for answer in (
        mlflow("GET", "artifacts/list", run_id=run, path="../path"),
        mlflow("GET", "artifacts", root="mlflow-artifacts", path=f"runs/{run}/../path"),
    ):
        assert answer.json() == {"error_code": "INVALID_PARAMETER_VALUE", "message": "Invalid path"}


def test_the_addresses_of_mlflows_own_pages_are_the_same_endpoints(mlflow: Mlflow) -> None:
    run = mlflow.run(run_name="a")
    headers = {"Authorization": f"Bearer {mlflow.token}"}
    path = f"/api/mlflow/vision/ajax-api/2.0/mlflow/runs/get?run_id={run}"
    assert Client().get(path, headers=headers).json()["run"]["info"]["run_name"] == "a"
