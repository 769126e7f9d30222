"""The fields of every request and their types, as MLflow's server declares them.

A row names the fields of one endpoint: `run_id!` is a text that must be there, `step:whole` a whole
number. MLflow checks the whole request before it looks anything up, and so does Atom.
Source: the schemas in `mlflow/server/handlers.py` and the messages in `mlflow/protos`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from atom.mlflow_api.errors import BadParameter

TEXT, WHOLE, NUMBER, FLAG = "text", "whole", "number", "flag"
LIST, TEXTS, WORD = "list", "texts", "word"
SEE_DOCS = "See the API docs for more information about request parameters."
_MAX_SHOWN = 1000

_EXPERIMENT, _RUN, _NAME = "experiment_id!", "run_id!", "name!"
_TAG = "key! value"
_VERSION = f"{_NAME} version!"
_PAGE = "filter max_results:whole order_by:texts page_token"
_SEARCH_RUNS = f"experiment_ids:list run_view_type:word {_PAGE}"
_SEARCH_EXPERIMENTS = f"view_type:word {_PAGE}"
_SEARCH_MODELS = (
    "experiment_ids:texts! filter datasets:list max_results:whole order_by:list page_token"
)
_LATEST = f"{_NAME} stages:texts"
_METRIC = "key! value:number! timestamp:whole! step:whole model_id dataset_name dataset_digest"

_ROWS = {
    "POST experiments/create": f"{_NAME} artifact_location tags:list",
    "GET experiments/get": _EXPERIMENT,
    "GET experiments/get-by-name": "experiment_name!",
    "POST experiments/search": _SEARCH_EXPERIMENTS,
    "GET experiments/search": _SEARCH_EXPERIMENTS,
    "POST experiments/update": f"{_EXPERIMENT} new_name!",
    "POST experiments/delete": _EXPERIMENT,
    "POST experiments/restore": _EXPERIMENT,
    "POST experiments/set-experiment-tag": f"{_EXPERIMENT} {_TAG}",
    "POST experiments/delete-experiment-tag": f"{_EXPERIMENT} key!",
    "POST runs/create": "experiment_id user_id start_time:whole run_name tags:list",
    "GET runs/get": _RUN,
    "POST runs/update": f"{_RUN} end_time:whole status:word run_name",
    "POST runs/delete": _RUN,
    "POST runs/restore": _RUN,
    "POST runs/search": _SEARCH_RUNS,
    "POST runs/log-parameter": f"{_RUN} {_TAG}",
    "POST runs/set-tag": f"{_RUN} {_TAG}",
    "POST runs/delete-tag": f"{_RUN} key!",
    "POST runs/log-metric": f"{_RUN} {_METRIC}",
    "POST runs/log-batch": f"{_RUN} metrics:list params:list tags:list",
    "POST runs/log-inputs": f"{_RUN} datasets:list models:list",
    "POST runs/outputs": f"{_RUN} models:list!",
    "POST runs/log-model": f"{_RUN} model_json!",
    "GET metrics/get-history": f"{_RUN} metric_key! max_results:whole page_token",
    "GET metrics/get-history-bulk-interval": (
        "run_ids:texts! metric_key! start_step:whole end_step:whole max_results:whole"
    ),
    "GET artifacts/list": f"{_RUN} path page_token",
    "POST logged-models": (f"{_EXPERIMENT} name model_type source_run_id params:list tags:list"),
    "POST logged-models/search": _SEARCH_MODELS,
    "GET logged-models/<str:model_id>": "allow_deleted:flag",
    "PATCH logged-models/<str:model_id>": "model_id status:word!",
    "DELETE logged-models/<str:model_id>": "",
    "PATCH logged-models/<str:model_id>/tags": "tags:list",
    "DELETE logged-models/<str:model_id>/tags/<path:key>": "",
    "POST logged-models/<str:model_id>/params": "model_id params:list",
    "GET logged-models/<str:model_id>/artifacts/directories": "artifact_directory_path page_token",
    "POST registered-models/create": f"{_NAME} tags:list description",
    "GET registered-models/get": _NAME,
    "POST registered-models/rename": f"{_NAME} new_name!",
    "PATCH registered-models/update": f"{_NAME} description",
    "DELETE registered-models/delete": _NAME,
    "GET registered-models/search": _PAGE,
    "GET registered-models/get-latest-versions": _LATEST,
    "POST registered-models/get-latest-versions": _LATEST,
    "POST registered-models/set-tag": f"{_NAME} {_TAG}",
    "DELETE registered-models/delete-tag": f"{_NAME} key!",
    "GET registered-models/alias": f"{_NAME} alias!",
    "POST registered-models/alias": f"{_NAME} alias! version!",
    "DELETE registered-models/alias": f"{_NAME} alias!",
    "POST model-versions/create": (
        f"{_NAME} source! run_id tags:list run_link description model_id"
    ),
    "GET model-versions/get": _VERSION,
    "PATCH model-versions/update": f"{_VERSION} description",
    "DELETE model-versions/delete": _VERSION,
    "GET model-versions/search": _PAGE,
    "GET model-versions/get-download-uri": _VERSION,
    "POST model-versions/set-tag": f"{_VERSION} {_TAG}",
    "DELETE model-versions/delete-tag": f"{_VERSION} key!",
    "POST model-versions/transition-stage": (f"{_VERSION} stage! archive_existing_versions:flag"),
    "GET artifacts": "path!",
    "GET artifacts/<path:path>": "",
    "DELETE artifacts/<path:path>": "",
    "POST mpu/create/<path:path>": "path! num_parts:whole",
    "POST mpu/complete/<path:path>": "path! upload_id parts:list!",
    "POST mpu/abort/<path:path>": "path! upload_id",
}


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a request."""

    name: str
    kind: str
    is_required: bool


def _field(text: str) -> Field:
    name, _, kind = text.removesuffix("!").partition(":")
    return Field(name, kind or TEXT, text.endswith("!"))


FIELDS: Mapping[str, tuple[Field, ...]] = {
    endpoint: tuple(_field(text) for text in row.split()) for endpoint, row in _ROWS.items()
}


def check_fields(endpoint: str, values: Mapping[str, Any]) -> None:
    """Check the fields of a request to `METHOD route`. Raises BadParameter in MLflow's words."""
    for field in FIELDS[endpoint]:
        value = values.get(field.name)
        if value is None and field.name == "run_id":
            value = values.get("run_uuid")
        if value is None or value == "":
            if field.is_required:
                raise missing(field.name)
        elif not _CHECKS[field.kind](value):
            raise invalid(field.name, value)


def lists_of(endpoint: str) -> frozenset[str]:
    """Return the fields that a query may repeat."""
    fields = FIELDS.get(endpoint, ())
    return frozenset(field.name for field in fields if field.kind in {LIST, TEXTS})


def missing(path: str) -> BadParameter:
    """Return MLflow's refusal of a request without a field."""
    return BadParameter(f"Missing value for required parameter '{path}'. {SEE_DOCS}")


def invalid(path: str, value: object) -> BadParameter:
    """Return MLflow's refusal of a value of the wrong type."""
    shown = json.dumps(value, sort_keys=True, separators=(",", ":"), default=repr)[:_MAX_SHOWN]
    kind = type(value).__name__
    return BadParameter(
        f"Invalid value {shown} for parameter '{path}' supplied:  "
        f"Hint: Value was of type '{kind}'. {SEE_DOCS}"
    )


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_whole(value: object) -> bool:
    """Protobuf's JSON writes whole numbers of 64 bits as texts; both are read."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return False
    try:
        return int(value) == float(value)
    except (ValueError, OverflowError):
        return False


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return False
    try:
        float(value)
    except (ValueError, OverflowError):
        return False
    return True


def _is_flag(value: object) -> bool:
    return isinstance(value, bool) or str(value).lower() in {"true", "false"}


def _is_list(value: object) -> bool:
    return isinstance(value, list)


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _is_word(value: object) -> bool:
    """A value of an enumeration: its name, or its number."""
    return isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool))


_CHECKS: Mapping[str, Callable[[object], bool]] = {
    TEXT: _is_text,
    WHOLE: _is_whole,
    NUMBER: _is_number,
    FLAG: _is_flag,
    LIST: _is_list,
    TEXTS: _is_texts,
    WORD: _is_word,
}
