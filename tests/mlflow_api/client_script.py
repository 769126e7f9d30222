"""Run by the MLflow client's own Python: does what people do, and says what it saw as JSON lines.

It imports nothing of Atom. Each check stands for itself; what it returns, the tests look at.
"""

from __future__ import annotations

import json
import math
import os
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mlflow
from mlflow import MlflowClient
from mlflow.entities import LoggedModelOutput, Metric, Param, RunTag, ViewType
from mlflow.exceptions import MlflowException

CHECKS: list[Callable[[], Any]] = []


def check(function: Callable[[], Any]) -> Callable[[], Any]:
    CHECKS.append(function)
    return function


def refused(function: Callable[..., Any], *args: Any, **options: Any) -> str:
    """Return the error code with which the call is refused."""
    try:
        function(*args, **options)
    except MlflowException as error:
        return str(error.error_code)
    return "nothing"


@check
def fluent() -> Any:
    mlflow.set_experiment("digits")
    with mlflow.start_run(run_name="first", tags={"team": "vision"}) as run:
        mlflow.log_param("lr", 0.1)
        mlflow.log_params({"layers": 3, "name": "größe"})
        for step in range(5):
            mlflow.log_metric("loss", 1 / (step + 1), step=step)
        mlflow.log_metrics({"acc": 0.5, "f1": math.nan}, step=1)
        mlflow.log_metric("acc", 0.9, step=2)
        mlflow.set_tag("note", "100%")
        mlflow.log_text("hello", "notes/hello.txt")
        mlflow.log_dict({"a": 1}, "config.json")
    found = mlflow.get_run(run.info.run_id)
    history = MlflowClient().get_metric_history(run.info.run_id, "loss")
    return {
        "id": run.info.run_id,
        "status": found.info.status,
        "name": found.info.run_name,
        "params": found.data.params,
        "acc": found.data.metrics["acc"],
        "f1_is_nan": math.isnan(found.data.metrics["f1"]),
        "tags": {key: found.data.tags[key] for key in ("team", "note", "mlflow.runName")},
        "history": [[one.step, one.value] for one in history],
        "text": mlflow.artifacts.load_text(f"runs:/{run.info.run_id}/notes/hello.txt"),
        "files": sorted(one.path for one in MlflowClient().list_artifacts(run.info.run_id)),
        "below": [one.path for one in MlflowClient().list_artifacts(run.info.run_id, "notes")],
    }


@check
def client() -> Any:
    own = MlflowClient()
    experiment = own.create_experiment("sweep", tags={"owner": "me"})
    run = own.create_run(experiment, tags={"mlflow.runName": "batched"})
    pk = run.info.run_id
    metrics = [Metric("x", float(at), 1000 + at, at) for at in range(1000)]
    own.log_batch(pk, metrics=metrics)
    own.log_batch(pk, params=[Param("p", "1")], tags=[RunTag("t", "one"), RunTag("gone", "x")])
    own.delete_tag(pk, "gone")
    again = refused(own.log_param, pk, "p", "2")
    own.log_param(pk, "p", "1")
    own.update_run(pk, name="renamed")
    own.set_terminated(pk, "FAILED")
    found = own.get_run(pk)
    own.delete_run(pk)
    deleted = own.get_run(pk).info.lifecycle_stage
    to_deleted = refused(own.log_metric, pk, "x", 1.0)
    own.restore_run(pk)
    return {
        "id": pk,
        "x": found.data.metrics["x"],
        "points": len(own.get_metric_history(pk, "x")),
        "tags": sorted(key for key in found.data.tags if not key.startswith("mlflow.")),
        "again": again,
        "status": found.info.status,
        "name": found.info.run_name,
        "deleted": deleted,
        "to_deleted": to_deleted,
        "taken": refused(own.create_experiment, "sweep"),
        "missing": refused(own.get_run, "0" * 32),
        "too_long": refused(own.log_param, pk, "k" * 251, "v"),
    }


@check
def searching() -> Any:
    own = MlflowClient()
    experiment = own.create_experiment("searched")
    for at in range(7):
        run = own.create_run(experiment, run_name=f"run {at}", start_time=1_700_000_000_000 + at)
        own.log_batch(
            run.info.run_id,
            metrics=[Metric("acc", at / 10, 1, 0), Metric("a b", float(at), 1, 0)],
            params=[Param("kind", "even" if at % 2 == 0 else "odd")],
            tags=[RunTag("q.r", f"50% of {at}")],
        )
        if at < 3:
            own.set_terminated(run.info.run_id)

    def names(text: str = "", order: list[str] | None = None, **more: Any) -> list[str]:
        found = own.search_runs([experiment], text, order_by=order, **more)
        return [one.info.run_name for one in found]

    pages, token = [], None
    while True:
        page = own.search_runs([experiment], max_results=3, page_token=token)
        pages.append([one.info.run_name for one in page])
        token = page.token
        if not token:
            break
    return {
        "metric": names("metrics.acc > 0.35"),
        "quoted": names("metrics.`a b` <= 1"),
        "param": names("params.kind = 'odd' and metrics.acc < 0.4"),
        "not": names("params.kind != 'odd'", ["start_time ASC"]),
        "like": names("tags.`q.r` LIKE '%f 4'"),
        "ilike": names("tags.`q.r` ILIKE '%OF 4'"),
        "status": names("attributes.status = 'FINISHED'"),
        "name": names("attributes.run_name LIKE 'run 5'"),
        "in": names("attributes.run_name IN ('run 1', 'run 2')"),
        "time": names("attributes.start_time >= 1700000000005"),
        "order": names("", ["metrics.acc ASC"]),
        "pages": pages,
        "deleted": names("", run_view_type=ViewType.DELETED_ONLY),
        "bad": refused(own.search_runs, [experiment], "metrics.acc = 'x'); DROP TABLE"),
        "unknown": refused(own.search_runs, [experiment], "attributes.nothing = 'x'"),
        "experiments": [
            one.name for one in own.search_experiments(filter_string="name LIKE 'sear%'")
        ],
    }


@check
def files() -> Any:
    folder = Path(tempfile.mkdtemp())
    (folder / "sub").mkdir()
    large = os.urandom(1 << 20) * 6
    (folder / "sub" / "large ö.bin").write_bytes(large)
    (folder / "small.txt").write_text("small")
    own = MlflowClient()
    with mlflow.start_run(run_name="files") as run:
        mlflow.log_artifacts(str(folder), "all")
        mlflow.log_artifact(str(folder / "small.txt"))
        (folder / "small.txt").write_text("changed")
        mlflow.log_artifact(str(folder / "small.txt"))
    there = Path(mlflow.artifacts.download_artifacts(f"runs:/{run.info.run_id}/all"))
    os.environ["MLFLOW_ENABLE_PROXY_MULTIPART_UPLOAD"] = "true"
    os.environ["MLFLOW_MULTIPART_UPLOAD_MINIMUM_FILE_SIZE"] = str(5 << 20)
    os.environ["MLFLOW_MULTIPART_UPLOAD_CHUNK_SIZE"] = str(5 << 20)
    own.log_artifact(run.info.run_id, str(folder / "sub" / "large ö.bin"), "parts")
    os.environ["MLFLOW_ENABLE_PROXY_MULTIPART_UPLOAD"] = "false"
    parts = Path(own.download_artifacts(run.info.run_id, "parts/large ö.bin"))
    repository = mlflow.store.artifact.artifact_repository_registry.get_artifact_repository(
        run.info.artifact_uri
    )
    repository.delete_artifacts("parts")
    return {
        "id": run.info.run_id,
        "same": (there / "sub" / "large ö.bin").read_bytes() == large,
        "in_parts": parts.read_bytes() == large,
        "text": mlflow.artifacts.load_text(f"runs:/{run.info.run_id}/small.txt"),
        "sizes": {
            one.path: one.file_size for one in own.list_artifacts(run.info.run_id, "all/sub")
        },
        "after": sorted(one.path for one in own.list_artifacts(run.info.run_id)),
    }


@check
def autolog() -> Any:
    import numpy as np
    from sklearn.linear_model import LogisticRegression

    # Models are logged below; here a second way to write one would cost another package.
    mlflow.sklearn.autolog(log_models=False, silent=True)
    x, y = np.array([[0.0], [1.0], [2.0], [3.0]] * 5), np.array([0, 0, 1, 1] * 5)
    with mlflow.start_run(run_name="autologged") as run:
        LogisticRegression(C=0.5).fit(x, y)
    mlflow.sklearn.autolog(disable=True)
    found = mlflow.get_run(run.info.run_id)
    return {
        "id": run.info.run_id,
        "C": found.data.params["C"],
        "metrics": sorted(found.data.metrics),
        "datasets": len(found.inputs.dataset_inputs),
    }


@check
def registry() -> Any:
    from sklearn.linear_model import LogisticRegression

    own = MlflowClient()
    fitted = LogisticRegression().fit([[0.0], [1.0]], [0, 1])
    with mlflow.start_run(run_name="registers") as run:
        logged = mlflow.sklearn.log_model(
            fitted,
            name="classifier",
            registered_model_name="IrisClassifier",
            pip_requirements=["scikit-learn"],
            serialization_format="cloudpickle",
        )
    first = own.get_model_version("IrisClassifier", "1")
    own.set_registered_model_alias("IrisClassifier", "champion", "1")
    own.set_model_version_tag("IrisClassifier", "1", "checked", "yes")
    own.set_registered_model_tag("IrisClassifier", "task", "iris")
    own.update_registered_model("IrisClassifier", description="Of irises.")
    own.update_model_version("IrisClassifier", "1", description="The first.")
    loaded = mlflow.sklearn.load_model("models:/IrisClassifier@champion")
    again = mlflow.sklearn.load_model(logged.model_uri)
    copy = own.copy_model_version("models:/IrisClassifier/1", "copies")
    own.transition_model_version_stage("IrisClassifier", "1", "Production")
    model = own.get_registered_model("IrisClassifier")
    by_alias = own.get_model_version_by_alias("IrisClassifier", "champion")
    stage = own.get_model_version("IrisClassifier", "1").current_stage
    own.rename_registered_model("copies", "Second Copies")
    answer = {
        "id": run.info.run_id,
        "source": first.source.startswith("models:/m-"),
        "run_id": first.run_id,
        "status": first.status,
        "predicts": [int(one) for one in loaded.predict([[0.0], [1.0]])],
        "again": [int(one) for one in again.predict([[0.0], [1.0]])],
        "by_alias": [by_alias.version, by_alias.tags, by_alias.description],
        "aliases": model.aliases,
        "tags": model.tags,
        "description": model.description,
        "stage": stage,
        "copy": [copy.name, copy.version, copy.run_id],
        "renamed": own.get_registered_model("Second Copies").name,
        "searched": [one.name for one in own.search_registered_models("name LIKE 'Iris%'")],
        "by_tag": [one.name for one in own.search_registered_models("tags.task = 'iris'")],
        "versions": [
            [one.name, one.version]
            for one in own.search_model_versions(f"run_id = '{run.info.run_id}'")
        ],
        "latest": [one.version for one in own.get_latest_versions("IrisClassifier")],
        "models": [one.name for one in mlflow.search_logged_models(output_format="list")],
        "taken": refused(own.create_registered_model, "IrisClassifier"),
        "missing": refused(own.get_registered_model, "Nothing"),
        "no_version": refused(own.get_model_version, "IrisClassifier", "9"),
    }
    own.delete_registered_model_alias("IrisClassifier", "champion")
    own.delete_model_version("Second Copies", "1")
    own.delete_registered_model("Second Copies")
    return {**answer, "gone": refused(own.get_registered_model, "Second Copies")}


@check
def without_a_run() -> Any:
    logged = mlflow.initialize_logged_model(name="alone", params={"a": "b"})
    mlflow.finalize_logged_model(logged.model_id, "READY")
    mlflow.set_logged_model_tags(logged.model_id, {"k": "v"})
    found = mlflow.get_logged_model(logged.model_id)
    return {"status": str(found.status), "tags": found.tags.get("k"), "params": found.params}


@check
def as_mlflow() -> Any:
    own = MlflowClient()
    new_project = [[one.name, one.experiment_id] for one in own.search_experiments()]
    experiment = own.create_experiment("as mlflow")
    runs = [own.create_run(experiment, start_time=1).info.run_id for _ in range(5)]
    pages: list[str] = []
    token = None
    while token is not None or not pages:
        page = own.search_runs([experiment], max_results=2, page_token=token)
        pages += [one.info.run_id for one in page]
        token = page.token
    own.log_text(runs[0], "weights", "model/weights.txt")
    own.create_registered_model("Twice")
    source = f"runs:/{runs[0]}/model"
    versions = [own.create_model_version("Twice", source, runs[0]).version for _ in range(2)]
    models = [own.create_logged_model(experiment, tags={"a": "b"}) for _ in range(2)]
    for status in ("READY", "FAILED"):
        last = own.finalize_logged_model(models[0].model_id, status)
    outputs = [LoggedModelOutput(one.model_id, step) for step, one in enumerate(models)]
    own.log_outputs(runs[1], outputs)
    strange = own.create_logged_model(experiment, source_run_id="none")
    user = own.create_run(experiment, tags={"mlflow.user": "bob"}).info.user_id
    return {
        "new_project": new_project,
        "ties": pages == sorted(runs),
        "versions": versions,
        "listed": sorted(one.version for one in own.search_model_versions("name = 'Twice'")),
        "names": len({one.name for one in models}),
        "tags": models[0].tags,
        "failed": str(last.status),
        "outputs": own.get_run(runs[1]).outputs.model_outputs == outputs,
        "source_run_id": strange.source_run_id,
        "user": user,
        "too_many": refused(own.search_runs, [experiment], max_results=123456789),
    }


def main() -> None:
    wanted = sys.argv[1:]
    for function in CHECKS:
        if wanted and function.__name__ not in wanted:
            continue
        try:
            answer: Any = function()
        except Exception:
            answer = {"error": traceback.format_exc()}
        print(json.dumps({"check": function.__name__, "saw": answer}), flush=True)


if __name__ == "__main__":
    main()
