"""Compiles MLflow's filters and orders into queries: every name and value is bound, none is text.

A metric is compared by its last value in the run's last attempt, as MLflow does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from django.db.models import (
    Case,
    DateTimeField,
    F,
    FloatField,
    Lookup,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    TextField,
    Value,
    When,
)
from django.db.models.functions import Cast, Coalesce, Replace
from django.db.models.lookups import In, IsNull

from atom.jobs.models import MetricSeries
from atom.jobs.models.experiments import DEFAULT_EXPERIMENT
from atom.jobs.models.run_values import COMPARE, json_text, parameter_text
from atom.mlflow_api.actions.runs import RUN_NAME_LABEL, USER_LABEL
from atom.mlflow_api.engines import filters
from atom.mlflow_api.engines.filters import BadFilter, Comparison, Ordering
from atom.mlflow_api.engines.ids import DEFAULT_EXPERIMENT_ID, uuid_of
from atom.mlflow_api.errors import BadParameter
from atom.mlflow_api.models import DatasetInput
from atom.mlflow_api.states import states_with

Expression = Any
# Returns the expression that a name stands for, and how its values are read.
Field = tuple[Expression, Callable[[Any], Any]]
Fields = Callable[[str, str], Field]

_NUMERIC = {**COMPARE, "!=": COMPARE["="]}


class _Like(Lookup):  # type: ignore[type-arg]
    """SQL's LIKE with the caller's own pattern, as a bound value."""

    lookup_name = "sql_like"
    operator = "LIKE"

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, tuple[Any, ...]]:
        left, left_params = self.process_lhs(compiler, connection)
        right, right_params = self.process_rhs(compiler, connection)
        return f"{left} {self.operator} {right}", (*left_params, *right_params)


class _ILike(_Like):
    """LIKE without regard to case."""

    lookup_name = "sql_ilike"
    operator = "ILIKE"


def text_value(value: Any) -> str:
    """Read a text. Raises BadFilter for a number."""
    if not isinstance(value, str):
        raise BadFilter("Expected a quoted string value.")
    return value


def number_value(value: Any) -> float:
    """Read a number. Raises BadFilter for a text."""
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            raise BadFilter(f"Expected a numeric value, found '{value}'.") from None
    return float(value)


def time_value(value: Any) -> datetime:
    """Read milliseconds since 1970. Raises BadFilter."""
    found = time_of_ms(int(number_value(value)))
    if found is None:
        raise BadFilter("That time is out of range.")
    return found


def time_of_ms(ms: int) -> datetime | None:
    """Return the time that is so many milliseconds after 1970; None beyond the calendar."""
    try:
        return datetime.fromtimestamp(ms / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return None


def filtered(rows: QuerySet[Any], text: str, fields: Fields) -> QuerySet[Any]:
    """Apply a filter. Raises BadParameter."""
    try:
        for one in filters.parse_filter(text):
            rows = _apply(rows, one, fields)
    except (BadFilter, OverflowError) as error:
        raise BadParameter(str(error)) from error
    return rows


def ordered(
    rows: QuerySet[Any], terms: Sequence[str], fields: Fields, last: Iterable[Any]
) -> QuerySet[Any]:
    """Order by the terms, then by `last`. Raises BadParameter."""
    if len(terms) > 10:
        raise BadParameter("An order has at most 10 terms.")
    try:
        expressions = [_order(filters.parse_order(term), fields) for term in terms]
    except BadFilter as error:
        raise BadParameter(str(error)) from error
    return rows.order_by(*expressions, *last)


def _order(term: Ordering, fields: Fields) -> Any:
    expression, _ = fields(term.entity, term.key)
    return expression.asc(nulls_last=True) if term.ascending else expression.desc(nulls_last=True)


def _apply(rows: QuerySet[Any], one: Comparison, fields: Fields) -> QuerySet[Any]:
    expression, read = fields(one.entity, one.key)
    if one.op in {"IS NULL", "IS NOT NULL"}:
        return rows.filter(IsNull(expression, one.op == "IS NULL"))
    if one.op in {"IN", "NOT IN"}:
        assert isinstance(one.value, tuple)
        found = In(expression, _flat(read(value) for value in one.value))
        return rows.filter(found) if one.op == "IN" else rows.exclude(found)
    if one.op in {"LIKE", "ILIKE"}:
        if read is not text_value:
            raise BadFilter(f"'{one.key}' cannot be compared by {one.op}.")
        kind = _Like if one.op == "LIKE" else _ILike
        return rows.filter(kind(expression, Value(text_value(one.value))))
    value = read(one.value)
    if isinstance(value, list):
        if one.op not in {"=", "!="}:
            raise BadFilter(f"'{one.key}' cannot be compared by {one.op}.")
        found = In(expression, value)
        return rows.filter(found) if one.op == "=" else rows.exclude(found)
    if read is text_value and one.op not in {"=", "!="}:
        raise BadFilter(f"'{one.key}' cannot be compared by {one.op}.")
    compared = _NUMERIC[one.op](expression, Value(value))
    return rows.filter(~Q(compared) if one.op == "!=" else compared)


def _flat(values: Iterable[Any]) -> list[Any]:
    return [one for value in values for one in (value if isinstance(value, list) else [value])]


def label_of(key: str, column: str = "labels") -> Field:
    """Return a label's text."""
    return json_text(column, key), text_value


def run_field(entity: str, key: str) -> Field:
    """Return what a name means in a search of runs. Raises BadFilter."""
    if entity == filters.METRIC:
        return _metric(key), number_value
    if entity == filters.PARAM:
        return parameter_text(key), text_value
    if entity == filters.TAG:
        return (F("name"), text_value) if key == RUN_NAME_LABEL else label_of(key)
    if entity == filters.DATASET:
        return _dataset(key), text_value
    found = _RUN_ATTRIBUTES.get(key.lower())
    if found is None:
        known = ", ".join(sorted(_RUN_ATTRIBUTES))
        raise BadFilter(f"Invalid attribute key '{key}' specified. Valid keys are: {known}.")
    return found


def _run_id(value: Any) -> Any:
    # A text that is no id matches no run.
    return [found] if (found := uuid_of(text_value(value))) else []


_USER = Coalesce(
    json_text("labels", USER_LABEL), F("created_by__username"), output_field=TextField()
)
_STARTED = Coalesce(F("started_at"), F("created_at"), output_field=DateTimeField())
_RUN_ATTRIBUTES: dict[str, Field] = {
    "run_id": (F("pk"), _run_id),
    "run_name": (F("name"), text_value),
    "run name": (F("name"), text_value),
    "status": (F("state"), lambda value: states_with(text_value(value).upper())),
    "user_id": (_USER, text_value),
    "start_time": (_STARTED, time_value),
    "created": (_STARTED, time_value),
    "end_time": (F("finished_at"), time_value),
}
# As MLflow orders them: pages of runs that began at one time go by ascending id.
RUN_ORDER = (_STARTED.desc(), F("pk").asc())


def _metric(key: str) -> Expression:
    # NaN is above all numbers to PostgreSQL, and no number to MLflow.
    series = MetricSeries.objects.filter(run=OuterRef("pk"), key=key).exclude(last=math.nan)
    last = series.order_by("-attempt__number").values("last")[:1]
    return Subquery(last, output_field=FloatField())


def _dataset(key: str) -> Expression:
    if key not in {"name", "digest"}:
        raise BadFilter(f"Invalid dataset key '{key}'. Valid keys are: digest, name.")
    inputs = DatasetInput.objects.filter(run=OuterRef("pk")).order_by("id")
    return Subquery(inputs.values(key)[:1], output_field=TextField())


def experiment_field(entity: str, key: str) -> Field:
    """Return what a name means in a search of experiments. Raises BadFilter."""
    if entity == filters.TAG:
        return label_of(key)
    found = _EXPERIMENT_ATTRIBUTES.get(key.lower())
    if entity != filters.ATTRIBUTE or found is None:
        known = ", ".join(sorted(_EXPERIMENT_ATTRIBUTES))
        raise BadFilter(f"Invalid attribute key '{key}' specified. Valid keys are: {known}.")
    return found


# As `experiment_id_of` writes it.
_EXPERIMENT_ID = Case(
    When(name=DEFAULT_EXPERIMENT, then=Value(DEFAULT_EXPERIMENT_ID)),
    default=Replace(Cast("pk", TextField()), Value("-")),
    output_field=TextField(),
)
_EXPERIMENT_ATTRIBUTES: dict[str, Field] = {
    "name": (F("name"), text_value),
    "experiment_id": (_EXPERIMENT_ID, text_value),
    "creation_time": (F("created_at"), time_value),
    "last_update_time": (F("updated_at"), time_value),
}


def of_experiments(ids: Sequence[Any], *, default: bool) -> Q:
    """Return the condition for runs of these experiments, and of the default one."""
    wanted = Q(experiment__in=list(ids))
    if default:
        wanted |= Q(experiment=None) | Q(experiment__name=DEFAULT_EXPERIMENT)
    return wanted
