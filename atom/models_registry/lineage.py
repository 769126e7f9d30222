"""Walk the lineage of a model version or a dataset version in both directions."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db.models import Prefetch

from atom.datasets.catalog.reads import entry_counts
from atom.datasets.models import Version
from atom.jobs.models import Run, RunInput
from atom.models_registry.engines.lineage import Graph, Node
from atom.models_registry.models import Evaluation, ModelVersion
from atom.models_registry.reads import versions_for_display
from atom_sdk.amounts import counted, entries_text

_MAX_RUNS = 200
_MAX_LABEL_STEPS = 20
# Steps back from a run to the runs that wrote its inputs.
_MAX_RUN_STEPS = 5
_MAX_PARAMETERS_LENGTH = 200


def lineage_of_model(version: ModelVersion) -> Graph:
    """Return labels → dataset version → run (code, runtime) → files → model → evaluations."""
    graph = Graph()
    run = _runs().get(pk=version.run_id)
    _add_run(graph, run)
    _add_makers(graph, run, _MAX_RUN_STEPS)
    _add_models(graph, [version])
    return graph


def lineage_of_dataset(version: Version) -> Graph:
    """Return where the version came from, the runs that read it and the models that they made."""
    graph = Graph()
    graph.add(_dataset_node(version))
    _add_label_tasks(graph, version)
    _add_maker(graph, version, _MAX_RUN_STEPS)
    ids = RunInput.objects.filter(version=version).values_list("run", flat=True)
    runs = list(_runs().filter(pk__in=list(ids)).order_by("-created_at")[:_MAX_RUNS])
    for run in runs:
        _add_run(graph, run)
    _add_models(graph, ModelVersion.objects.filter(run__in=runs))
    return graph


def _runs() -> Any:
    inputs = RunInput.objects.select_related("version__dataset")
    joined = Run.objects.select_related("code", "runtime", "workflow", "project")
    return joined.prefetch_related(Prefetch("inputs", inputs.order_by("alias")))


def _add_run(graph: Graph, run: Run) -> None:
    node = graph.add(_run_node(run))
    for one in run.inputs.all():
        graph.link(_dataset_node(one.version), node, one.alias)
        _add_label_tasks(graph, one.version)
    if run.code is not None:
        git = run.code.git or {}
        commit = str(git.get("commit") or "")[:12]
        code = Node(
            "code",
            str(run.code.pk),
            "Code",
            commit or f"sha256 {run.code.sha256[:12]}",
            None,
            run.code.digest,
        )
        graph.link(code, node, "code")
    elif run.workflow is not None:
        workflow = run.workflow
        code = Node(
            "code",
            str(workflow.pk),
            workflow.title,
            f"workflow {workflow.slug}",
            None,
            run.workflow_version or workflow.version,
        )
        graph.link(code, node, "code")
    if run.runtime is not None:
        runtime = run.runtime
        packages = len([line for line in runtime.requirements.splitlines() if line.strip()])
        subtitle = f"Python {runtime.python}, {counted(packages, 'requirement')}"
        facts: dict[str, int | float | str] = {"python": runtime.python, "packages": packages}
        environment = Node(
            "runtime", str(runtime.pk), "Runtime", subtitle, None, runtime.digest, facts
        )
        graph.link(environment, node, "runtime")


def _add_makers(graph: Graph, run: Run, steps: int) -> None:
    """Follow what a run read to the runs that wrote it."""
    for one in run.inputs.all():
        _add_maker(graph, one.version, steps)


def _add_maker(graph: Graph, version: Version, steps: int) -> None:
    """Add the run that wrote a version, with what it read, its code and its environment."""
    run = _maker(version) if steps else None
    if run is None:
        return
    maker, written = _run_node(run), _dataset_node(version)
    if not graph.has(maker, written, "wrote"):
        graph.link(maker, written, "wrote")
        _add_run(graph, run)
        _add_makers(graph, run, steps - 1)


def _maker(version: Version) -> Run | None:
    """Return the run that wrote a version; None of one that came from another installation."""
    said = version.provenance.get("made_by")
    try:
        pk = UUID(str(said["run"])) if isinstance(said, dict) else None
    except (KeyError, ValueError):
        return None
    found: Run | None = (
        _runs().filter(pk=pk, project=version.dataset.project_id).first() if pk else None
    )
    return found


def _add_models(graph: Graph, versions: Iterable[ModelVersion]) -> None:
    ids = [version.pk for version in versions]
    for version in versions_for_display().filter(pk__in=ids).order_by("number"):
        files = Node(
            "artifact",
            str(version.pk),
            version.artifact_path,
            f"{version.size_bytes} bytes",
            None,
            version.digest,
            {"size_bytes": version.size_bytes},
        )
        model = _model_node(version)
        graph.link(_run_node(version.run), files, "wrote")
        graph.link(files, model, "registered")
        for evaluation in version.evaluations.all():
            _add_evaluation(graph, model, evaluation)


def _add_evaluation(graph: Graph, model: Node, evaluation: Evaluation) -> None:
    title = f"{evaluation.accuracy:.2%} on {evaluation.split}"
    node = Node(
        "evaluation",
        str(evaluation.pk),
        title,
        f"{counted(evaluation.n, 'sample')}",
        f"/runs/{evaluation.run_id}",
        facts={
            "accuracy": evaluation.accuracy,
            "split": evaluation.split,
            "samples": evaluation.n,
        },
    )
    graph.link(model, node, "evaluated")
    graph.link(_dataset_node(evaluation.dataset_version), node, evaluation.split)
    if evaluation.run_id != UUID(str(evaluation.model_version.run_id)):
        graph.link(_run_node(evaluation.run), node, "measured")


def _add_label_tasks(graph: Graph, version: Version) -> None:
    """Follow the labels: the version came from a label task over an earlier version, and so on."""
    present: Version | None = version
    for _ in range(_MAX_LABEL_STEPS):
        if present is None or "label_task" not in present.provenance:
            return
        origin = present.provenance
        task_id = str(origin["label_task"])
        title = str(origin.get("label_task_name") or "Label task")
        # Many tasks have the name of their ontology, so it is shown once.
        ontology = str(origin.get("ontology") or "")
        subtitle = "" if ontology == title else ontology
        task = Node("label_task", task_id, title, subtitle, f"/labeling/{task_id}")
        node = _dataset_node(present)
        if graph.has(task, node, "labels"):
            # Many runs read one version: its history was walked for the first of them.
            return
        graph.link(task, node, "labels")
        present = _source_version(present)
        if present is not None:
            graph.link(_dataset_node(present), task, "labeled")


def _source_version(version: Version) -> Version | None:
    try:
        source = UUID(str(version.provenance.get("source_version")))
    except ValueError:
        return None
    # Provenance may be false, so only versions of the same dataset are shown.
    found = Version.objects.filter(pk=source, dataset=version.dataset_id)
    return found.select_related("dataset").first()


def _run_node(run: Run) -> Node:
    return Node(
        "run",
        str(run.pk),
        f"#{run.number} {run.name}",
        _parameter_words(run.parameters),
        f"/runs/{run.pk}",
    )


def _parameter_words(parameters: dict[str, Any]) -> str:
    """Return `epochs 3 · lr 0.004`: names with their values, for people."""
    words = " · ".join(
        f"{name} {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in sorted(parameters.items())
    )
    if len(words) <= _MAX_PARAMETERS_LENGTH:
        return words
    return words[: _MAX_PARAMETERS_LENGTH - 1] + "…"


def _dataset_node(version: Version) -> Node:
    name = version.dataset.name
    url = f"/datasets/{name}?ref={version.ref}"
    counts = entry_counts(version)
    return Node(
        "dataset_version",
        str(version.pk),
        f"{name}@{version.ref}",
        entries_text(*counts),
        url,
        version.content_digest,
        {"files": counts.files, "links": counts.links},
    )


def _model_node(version: ModelVersion) -> Node:
    aliases = ", ".join(alias.name for alias in version.aliases.all())
    url = f"/models/{version.model.name}/versions/{version.number}"
    title = f"{version.model.name} v{version.number}"
    return Node("model_version", str(version.pk), title, aliases, url, version.digest)
