"""Values that runs are searched, sorted and summed by, as expressions over their own row.

A parameter is compared as a number where it reads like one: MLflow's clients log texts. Names are
bound values and never part of the SQL.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django.db.models import (
    BooleanField,
    Case,
    DecimalField,
    Expression,
    ExpressionWrapper,
    F,
    FloatField,
    Func,
    IntegerField,
    JSONField,
    Q,
    TextField,
    Value,
    When,
)
from django.db.models.functions import Coalesce, Now, NullIf
from django.db.models.lookups import (
    Exact,
    GreaterThan,
    GreaterThanOrEqual,
    LessThan,
    LessThanOrEqual,
)

COMPARE: dict[str, Any] = {
    "=": Exact,
    ">": GreaterThan,
    ">=": GreaterThanOrEqual,
    "<": LessThan,
    "<=": LessThanOrEqual,
}
NUMBER = DecimalField()
NAN = "NaN"
# Bounded, so that what matches always fits into a number of PostgreSQL.
_READS_LIKE_A_NUMBER = r"^\s*[-+]?(\d{1,30}\.?\d{0,30}|\.\d{1,30})([eE][-+]?\d{1,3})?\s*$"
_OPEN_S = Func(
    Now(),
    F("running_since"),
    template="GREATEST(0, EXTRACT(EPOCH FROM (%(expressions)s)))::double precision",
    arg_joiner=" - ",
    output_field=FloatField(),
)


def json_text(column: str, key: str) -> Func:
    """Return the text at a key of a JSON column."""
    # Not Django's transform, to which the key `0` is a place in a list.
    return Func(F(column), Value(key), function="jsonb_extract_path_text", output_field=TextField())


def _json(column: str, key: str) -> Func:
    return Func(
        F(column),
        Value(key),
        template="(%(expressions)s)",
        arg_joiner=" -> ",
        output_field=JSONField(),
    )


def _as_number(expression: Any) -> Func:
    return Func(expression, template="(%(expressions)s)::numeric", output_field=NUMBER)


def _parameter(key: str) -> Expression:
    found = [_json(one, key) for one in ("logged_parameters", "parameters")]
    return Coalesce(*found, output_field=JSONField())


def parameter_text(key: str) -> Expression:
    """Return a parameter as text: what the program logged, or what the run was started with."""
    return Func(_parameter(key), template="(%(expressions)s #>> '{}')", output_field=TextField())


def parameter_number(key: str) -> Expression:
    """Return a parameter as a number; NULL where it is none."""
    text = parameter_text(key)
    reads_like_one = Func(
        text,
        Value(_READS_LIKE_A_NUMBER),
        template="(%(expressions)s)",
        arg_joiner=" ~ ",
        output_field=BooleanField(),
    )
    kind = Func(_parameter(key), function="jsonb_typeof", output_field=TextField())
    return Case(
        When(Exact(kind, Value("number")), then=_as_number(_parameter(key))),
        When(reads_like_one, then=_as_number(text)),
        default=None,
        output_field=NUMBER,
    )


def metric_number(key: str) -> Expression:
    """Return the last value of a metric, as lists show it; NaN and infinity too."""
    # As text: NaN and infinity are words there, which PostgreSQL's numbers know.
    return _as_number(json_text("metrics_summary", key))


def metric_number_in_order(key: str) -> Expression:
    """Return the last value of a metric, NULL where it is NaN."""
    return NullIf(metric_number(key), word(NAN), output_field=NUMBER)


def metric_is_nan(key: str) -> Expression:
    """Return 0 where the last value of a metric is NaN, else NULL."""
    is_nan = When(Exact(metric_number(key), word(NAN)), then=Value(0))
    return Case(is_nan, default=None, output_field=IntegerField())


def either_number(key: str) -> Expression:
    """Return a parameter, or else the metric of that name."""
    return Coalesce(parameter_number(key), metric_number(key), output_field=NUMBER)


def duration_s() -> Expression:
    """Return for how long a run's attempts have run together, the open one until now."""
    return ExpressionWrapper(F("ran_s") + Coalesce(_OPEN_S, Value(0.0)), output_field=FloatField())


def hours_of(resource: str) -> Expression:
    """Return what a run has cost: the hours that it ran times the `cpus` or `gpus` of its nodes."""
    held = F(resource) * F("nodes")
    return ExpressionWrapper(duration_s() * held / Value(3600.0), output_field=FloatField())


def word(text: str) -> Func:
    """Return one of `NaN`, `Infinity` and `-Infinity` as a number to compare with."""
    return _as_number(Value(text))


def bound(number: Decimal) -> Value:
    """Return a number to compare with."""
    return Value(number, output_field=NUMBER)


def contains(text: Any, part: str) -> Func:
    """Return whether a text has a part, in any case."""
    pattern = part.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_")
    return Func(
        text,
        Value(f"%{pattern}%"),
        template="(%(expressions)s)",
        arg_joiner=" ILIKE ",
        output_field=BooleanField(),
    )


def is_not_true(condition: Q) -> Func:
    """Return the opposite of a condition, where what is unknown did not hold."""
    return Func(
        ExpressionWrapper(condition, output_field=BooleanField()),
        template="((%(expressions)s) IS NOT TRUE)",
        output_field=BooleanField(),
    )
