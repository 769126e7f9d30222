"""Applies a search of runs to a query: its terms as bound values, never as SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import Exists, F, OuterRef, Q, TextField, Value
from django.db.models.functions import Cast
from django.db.models.lookups import IsNull
from django.utils.dateparse import parse_datetime

from atom.accounts.models import Project, User
from atom.clusters.actions import LOCAL
from atom.core.states import all_states
from atom.datasets.errors import BranchEmpty, RefAmbiguous, RefNotFound
from atom.datasets.models import Dataset
from atom.datasets.refs import resolve_ref
from atom.jobs import states
from atom.jobs.errors import InvalidRunSearch
from atom.jobs.models import Attempt, RunInput, RunQuerySet, run_values
from atom.jobs.runs.engines import run_query
from atom.jobs.runs.engines.run_query import RunQueryError, Term
from atom_sdk.sentences import Sentence

_IS: dict[str, Q] = {
    "starred": Q(starred=True),
    "archived": Q(archived_at__isnull=False),
    "tracked": ~Q(origin=states.EXECUTED),
    "active": Q(state__in=states.ACTIVE),
    "waiting": Q(state__in=states.WAITING),
    "finished": Q(state__in=states.TERMINAL),
}
_NUMBERS: dict[str, Callable[[], Any]] = {
    "number": lambda: F("number"),
    "cpus": lambda: F("cpus"),
    "gpus": lambda: F("gpus"),
    "progress": lambda: F("progress"),
    "duration": run_values.duration_s,
    "cpu_hours": lambda: run_values.hours_of("cpus"),
    "gpu_hours": lambda: run_values.hours_of("gpus"),
}
# At most this many people count for a word: one in more names than this is no useful search.
_MAX_PEOPLE = 500
_DAY = timedelta(days=1)


def searched(found: RunQuerySet, project: Project, user: User, text: str) -> RunQuerySet:
    """Return the runs that a search asks for; archived ones only if it names them.

    Raises InvalidRunSearch, which says where and what to write instead.
    """
    try:
        terms = run_query.parse(text)
        asker = _Asker(project, user)
        for term in terms:
            condition = asker.condition(term)
            found = found.filter(run_values.is_not_true(condition) if term.negated else condition)
    except RunQueryError as error:
        raise InvalidRunSearch(
            str(error),
            errors={"search": [str(error)]},
            position=error.position,
            **_named(error),
        ) from error
    if not any(term.kind == "is" and "archived" in term.values for term in terms):
        found = found.filter(archived_at=None)
    return found


def on_cluster(name: str) -> Q:
    """Return the condition that a run is for a cluster; `local` is Atom's own machines."""
    if name == LOCAL:
        # A tracked run is on machines that Atom does not know.
        return Q(cluster=None, origin=states.EXECUTED)
    return Q(cluster__name=name)


def _named(error: RunQueryError) -> dict[str, Any]:
    """Return an unknown field and the one that it resembles, as parameters of the problem."""
    return {"field": error.field, "suggestion": error.suggestion} if error.field else {}


def _any(conditions: Iterable[Q]) -> Q:
    return reduce(or_, conditions)


class _Asker:
    """The user and project of a search, which some of its words depend on."""

    def __init__(self, project: Project, user: User) -> None:
        self._project = project
        self._user = user

    def condition(self, term: Term) -> Q:
        """Return a term as a condition, without its minus sign. Raises RunQueryError."""
        if term.kind in run_query.NUMBERS:
            read = _seconds if term.kind == "duration" else _number
            return _compared(term, _NUMBERS[term.kind](), read)
        if term.kind in run_query.TIMES:
            return _in_time(term)
        if term.kind in (run_query.PARAM, run_query.METRIC, run_query.EITHER):
            return _valued(term)
        one = getattr(self, f"_{term.kind}")
        found = _any(one(value, term) for value in term.values)
        return ~found if term.op == "!=" else found

    def _word(self, text: str, _: Term) -> Q:
        # People are looked up first: the search for words in runs is by their own indices.
        people = User.objects.filter(Q(username__icontains=text) | Q(full_name__icontains=text))
        found = self._name(text, _) | self._notes(text, _)
        found |= Q(run_values.contains(Cast("tags", TextField()), text))
        if ids := list(people.values_list("pk", flat=True)[:_MAX_PEOPLE]):
            found |= Q(created_by__in=ids)
        number = text.removeprefix("#")
        if number.isascii() and number.isdecimal() and len(number) < 10:
            found |= Q(number=int(number))
        return found

    def _state(self, value: str, term: Term) -> Q:
        known = all_states(states.RUN_STATES)
        if value.lower() not in known:
            raise term.wrong(
                Sentence(
                    "jobs.search_state_unknown",
                    "there is no state {value}. Write one of: {known}.",
                    value=repr(value),
                    known=", ".join(sorted(known)),
                )
            )
        return Q(state=value.lower())

    def _is(self, value: str, term: Term) -> Q:
        if value.lower() not in _IS:
            known = ", ".join(f"is:{one}" for one in _IS)
            raise term.wrong(
                Sentence(
                    "jobs.search_is_unknown",
                    "no run is {value}. Write one of: {known}.",
                    value=repr(value),
                    known=known,
                )
            )
        return _IS[value.lower()]

    def _tag(self, value: str, _: Term) -> Q:
        return Q(tags__contains=[value])

    def _author(self, value: str, _: Term) -> Q:
        if value == "me":
            return Q(created_by=self._user)
        return Q(created_by__in=User.objects.filter(username__iexact=value))

    def _workflow(self, value: str, _: Term) -> Q:
        return Q(workflow__slug=value)

    def _experiment(self, value: str, _: Term) -> Q:
        return Q(experiment__name=value)

    def _cluster(self, value: str, _: Term) -> Q:
        return on_cluster(value)

    def _accelerator(self, value: str, _: Term) -> Q:
        return Q(accelerator=value)

    def _node(self, value: str, _: Term) -> Q:
        return Q(Exists(Attempt.objects.filter(run=OuterRef("pk"), node__name=value)))

    def _failure(self, value: str, _: Term) -> Q:
        return Q(failure_class=value)

    def _name(self, value: str, _: Term) -> Q:
        return Q(run_values.contains(F("name"), value))

    def _notes(self, value: str, _: Term) -> Q:
        return Q(run_values.contains(F("notes"), value))

    def _origin(self, value: str, term: Term) -> Q:
        if value not in states.RUN_ORIGINS:
            known = ", ".join(states.RUN_ORIGINS)
            raise term.wrong(
                Sentence(
                    "jobs.search_origin_unknown",
                    "no run comes from {value}. Write one of: {known}.",
                    value=repr(value),
                    known=known,
                )
            )
        return Q(origin=value)

    def _dataset(self, value: str, term: Term) -> Q:
        name, _, ref = value.partition("@")
        inputs = RunInput.objects.filter(run=OuterRef("pk"))
        dataset = Dataset.objects.filter(project=self._project, name=name).first()
        if dataset is None:
            raise term.wrong(
                Sentence(
                    "jobs.search_dataset_unknown",
                    "the project has no dataset {dataset}. Write dataset:NAME or dataset:NAME@v3.",
                    dataset=repr(name),
                )
            )
        if not ref:
            return Q(Exists(inputs.filter(version__dataset=dataset)))
        try:
            version = resolve_ref(dataset, ref)
        except (RefNotFound, BranchEmpty, RefAmbiguous) as error:
            raise term.wrong(
                Sentence(
                    "jobs.search_version_unknown",
                    "{problem} Write dataset:{dataset}@v3.",
                    problem=error.detail,
                    dataset=name,
                )
            ) from error
        return Q(Exists(inputs.filter(version=version)))


def _number(value: str, term: Term) -> Decimal:
    if not run_query.is_number(value):
        raise term.wrong(
            Sentence(
                "jobs.search_number_invalid",
                "{value} is no number. Write {field}>0.5.",
                value=repr(value),
                field=term.key or term.kind,
            )
        )
    return Decimal(value)


def _seconds(value: str, term: Term) -> Decimal:
    found = run_query.seconds_of(value)
    if found is None:
        raise term.wrong(
            Sentence(
                "jobs.not_a_duration",
                "{value} is no length of time. Write duration>90s, >5m, >2h or >1d.",
                value=repr(value),
            )
        )
    return Decimal(repr(found))


def _compared(term: Term, expression: Any, read: Callable[[str, Term], Decimal]) -> Q:
    op = "=" if term.op == "!=" else term.op
    found = _any(
        Q(run_values.COMPARE[op](expression, run_values.bound(read(value, term))))
        for value in term.values
    )
    return ~found if term.op == "!=" else found


def _valued(term: Term) -> Q:
    """Compare a parameter or a metric; a run without it matches nothing, not even `!=`.

    NaN equals nothing but the word `nan`, and is neither less nor more than any number.
    """
    number = {
        run_query.PARAM: run_values.parameter_number,
        run_query.METRIC: run_values.metric_number,
        run_query.EITHER: run_values.either_number,
    }[term.kind](term.key)
    if term.op not in ("=", "!="):
        not_nan = ~Q(run_values.COMPARE["="](number, run_values.word(run_values.NAN)))
        return not_nan & Q(run_values.COMPARE[term.op](number, _ordered(term)))
    found = _any(_equals(term, value, number) for value in term.values)
    return ~found if term.op == "!=" else found


def _ordered(term: Term) -> Any:
    """Return the value that others are compared with by size. Raises RunQueryError."""
    value = term.values[0]
    if run_query.word_of(value) == run_values.NAN:
        raise term.wrong(
            Sentence(
                "jobs.nan_has_no_order", "NaN has no order. Write {field}=nan.", field=term.key
            )
        )
    return _metric_value(value, term)


def _metric_value(value: str, term: Term) -> Any:
    word = None if term.kind == run_query.PARAM else run_query.word_of(value)
    return run_values.word(word) if word else run_values.bound(_number(value, term))


def _equals(term: Term, value: str, number: Any) -> Q:
    """Compare with one value: as a number, as the text of a parameter, or as NaN or infinity."""
    same = run_values.COMPARE["="]
    if run_query.is_number(value):
        return Q(same(number, run_values.bound(Decimal(value))))
    if term.kind == run_query.METRIC:
        return Q(same(number, _metric_value(value, term)))
    text = run_values.parameter_text(term.key)
    word = run_query.word_of(value)
    if term.kind == run_query.PARAM or word is None:
        return Q(same(text, Value(value)))
    has_no_parameter = Q(IsNull(text, True))
    return (~has_no_parameter & Q(same(text, Value(value)))) | (
        has_no_parameter & Q(same(number, run_values.word(word)))
    )


def _in_time(term: Term) -> Q:
    """Compare a time; a day is all of it: `created<=2026-11-01` takes in that day's evening."""
    column = f"{term.kind}_at"
    found = _any(_in_span(term, column, value) for value in term.values)
    return ~found if term.op == "!=" else found


def _in_span(term: Term, column: str, value: str) -> Q:
    first, between, last = value.partition("..")
    start, end = _span(first, term)
    if between:
        if term.op not in ("=", "!="):
            raise term.wrong(
                Sentence(
                    "jobs.span_needs_colon",
                    "a span of time is compared by a colon. Write created:2026-11-01..2026-11-07.",
                )
            )
        end = _span(last, term)[1]
    return {
        "<": Q(**{f"{column}__lt": start}),
        "<=": Q(**{f"{column}__lt": end}),
        ">": Q(**{f"{column}__gte": end}),
        ">=": Q(**{f"{column}__gte": start}),
    }.get(term.op, Q(**{f"{column}__gte": start, f"{column}__lt": end}))


def _span(text: str, term: Term) -> tuple[datetime, datetime]:
    """Return the first moment of what a text names, and the first one after it."""
    try:
        if len(text) == 10:
            start = datetime.combine(date.fromisoformat(text), time(), UTC)
            return start, start + _DAY
        at = parse_datetime(text)
        if at is not None:
            # In UTC: PostgreSQL knows fewer zones than Python does.
            at = at.astimezone(UTC) if at.tzinfo is not None else at.replace(tzinfo=UTC)
            return at, at + timedelta(microseconds=1)
    except (ValueError, OverflowError):
        pass
    raise term.wrong(
        Sentence(
            "jobs.not_a_time",
            (
                "{value} is no time. Write a day or a time (UTC): created>=2026-11-01 or "
                "created:2026-11-01..2026-11-07."
            ),
            value=repr(text),
        )
    )
