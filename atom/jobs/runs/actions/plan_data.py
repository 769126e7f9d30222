"""The data of a run before it starts: references, choices, selectors, deliveries."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from atom.accounts.models import Project, User
from atom.core.errors import AtomError, NotFound
from atom.datasets.browsing.queries import combine_with_view
from atom.datasets.catalog.reads import find_dataset, require_kept
from atom.datasets.errors import QueryInvalid, ViewNotFound
from atom.datasets.models import Version
from atom.datasets.refs import resolve_ref
from atom.jobs.deliveries import wrong_deliveries
from atom.jobs.runs.actions.program import Program
from atom.jobs.runs.actions.requests import Errors, RunRequest
from atom.jobs.runs.engines.refs import BadReferenceError, parse_reference
from atom.jobs.workflows.engines.selection import TRAINING, selector_of
from atom_sdk.sentences import Sentence

_NOT_NARROWABLE = Sentence(
    "jobs.not_narrowable",
    ("This workflow reads the dataset as it declares: it takes no query and no view."),
)
_ALIAS = re.compile(r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}$")


@dataclass(frozen=True)
class References:
    """The versions that a request names, by the alias of the input."""

    versions: dict[str, Version]
    # The saved views that the references name.
    views: dict[str, str]
    # The field of the request that names each dataset.
    fields: dict[str, str]
    errors: Errors

    @property
    def pinned(self) -> dict[str, str]:
        """Return the references with a fixed version: `digits@main` moves, `digits@v3` stays."""
        return {
            alias: f"{version.dataset.name}@{version.ref}"
            for alias, version in self.versions.items()
        }


@dataclass(frozen=True)
class Choice:
    """A person's choice of a part of each input: selectors, views and queries by alias."""

    selectors: dict[str, dict[str, Any]]
    views: dict[str, str]
    queries: dict[str, str]
    errors: Errors


@dataclass(frozen=True)
class Selection:
    """The part of each input that the run sees; {} is the whole version."""

    selectors: dict[str, dict[str, Any]]
    # The saved views whose query is part of the selector.
    views: dict[str, str]
    errors: Errors


def resolve_references(
    project: Project, user: User, request: RunRequest, program: Program
) -> References:
    """Look up the version that each reference means now."""
    texts = {alias: (f"datasets.{alias}", text) for alias, text in request.datasets.items()}
    for name, text in program.parameters_of_type("dataset").items():
        texts[name] = (f"parameters.{name}", text)
    versions: dict[str, Version] = {}
    views: dict[str, str] = {}
    errors: Errors = {}
    for alias, (field_name, text) in texts.items():
        if not _ALIAS.match(alias):
            errors[field_name] = [
                Sentence(
                    "jobs.alias_invalid",
                    (
                        "An alias has letters, digits, dots, dashes, underscores; no dot or "
                        "dash first."
                    ),
                )
            ]
            continue
        try:
            versions[alias] = resolve_dataset(project, user, text)
            if view := parse_reference(text).view:
                views[alias] = view
        except (BadReferenceError, AtomError) as error:
            errors[field_name] = [str(error)]
    fields = {alias: field_name for alias, (field_name, _) in texts.items()}
    return References(versions, views, fields, errors)


def choose_data(request: RunRequest, program: Program, references: References) -> Choice:
    """Take what a person chose; of a workflow's data only a part can be taken, never more."""
    selectors: dict[str, dict[str, Any]] = {}
    if program.workflow is not None:
        declared = program.workflow.definition.get("inputs", {})
        selectors = {
            alias: selector_of(declared.get(alias, TRAINING), program.parameters)
            for alias in references.versions
        }
    views = dict(references.views)
    queries: dict[str, str] = {}
    errors: Errors = {}
    wrong_fields = program.errors.keys() | references.errors.keys()
    for alias, selector in request.selectors.items():
        if alias not in references.versions:
            if references.fields.get(alias) not in wrong_fields:
                errors[f"selectors.{alias}"] = [
                    Sentence("jobs.selector_alias_unknown", "The run has no dataset of this alias.")
                ]
            continue
        rest = dict(selector)
        view = rest.pop("view", "")
        if view and views.setdefault(alias, view) != view:
            errors[f"selectors.{alias}.view"] = [
                Sentence("jobs.view_named_twice", "The reference names another view.")
            ]
        queries[alias] = rest.pop("where", "")
        if program.workflow is None:
            selectors[alias] = rest
        elif rest:
            reason = Sentence(
                "jobs.workflow_selector_invalid",
                "Only a query or a view selects from a workflow's dataset.",
            )
            errors[f"selectors.{alias}"] = [reason]
    return Choice(selectors, views, queries, errors)


def selection_of(
    request: RunRequest, program: Program, references: References, choice: Choice
) -> Selection:
    """Write the text of each query, and of the view's, into the selector."""
    selectors, errors = dict(choice.selectors), dict(choice.errors)
    for alias, version in references.versions.items():
        if alias not in choice.views and alias not in choice.queries:
            continue
        if not program.may_be_narrowed(alias):
            # A person who could choose what is measured would make the measure worthless.
            errors[references.fields[alias]] = [_NOT_NARROWABLE]
            continue
        query, view = choice.queries.get(alias, ""), choice.views.get(alias, "")
        try:
            combined = combine_with_view(version.dataset, query, view)
        except ViewNotFound as error:
            in_selector = view == request.selectors.get(alias, {}).get("view")
            name = f"selectors.{alias}.view" if in_selector else references.fields[alias]
            errors[name] = [str(error)]
        except QueryInvalid as error:
            errors[f"selectors.{alias}.where"] = [str(error)]
        else:
            # Without a view the text stays as it was typed.
            if text := combined.text if view and combined else query:
                selectors[alias] = {**selectors.get(alias, {}), "where": text}
    return Selection(selectors, choice.views, errors)


def wrong_deliveries_of(request: RunRequest, references: References, errors: Errors) -> Errors:
    """A workflow's data may be delivered in any way: each shows only what its selector leaves."""
    # A dataset with an error of its own is not reported twice.
    broken = {name.partition(".")[2] for name in errors}
    wrong = wrong_deliveries(request.deliveries, references.versions.keys() | broken)
    return {f"deliveries.{alias}": [reason] for alias, reason in wrong.items()}


def resolve_dataset(project: Project, user: User, text: str) -> Version:
    """Return the version that `dataset@ref` means now. Raises BadReferenceError, NotFound."""
    reference = parse_reference(text)
    if reference.project not in (None, project.slug):
        # Packs are cached and mounted per project, so a run reads its own project's data only.
        raise NotFound(
            Sentence("jobs.of_another_project", "'{name}' belongs to another project.", name=text)
        )
    version: Version = resolve_ref(find_dataset(project, reference.name), reference.ref)
    require_kept(version)
    return version
