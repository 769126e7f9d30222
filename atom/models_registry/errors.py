"""One class per way in which the registry can refuse."""

from atom.core.errors import AlreadyExists, AtomError, Conflict, Invalid, NotFound, Unavailable


class ModelNameTaken(AlreadyExists):
    """The project has a model of this name."""

    code = "model_name_taken"
    title = "The project already has a model with that name."


class ModelNotFound(NotFound):
    """The project has no model of the name."""

    code = "model_not_found"
    title = "There is no such model."
    action = "Choose one of the project's models; a name may have been mistyped."


class ModelVersionNotFound(ModelNotFound):
    """No model of the project has such a version."""

    code = "model_version_not_found"
    title = "There is no such model version."
    action = "List the models, and name one as model@v1 or model@alias."


class AliasNotFound(ModelNotFound):
    """The model has no alias of the name."""

    code = "alias_not_found"
    title = "The model has no such alias."
    action = "Look at the model's aliases; somebody may have taken it away."


class ArtifactNotFound(Invalid):
    """The run has no stored file at the path."""

    code = "artifact_not_found"
    title = "The run left no stored file there."
    action = "Look at the run's files; the model's own are below model/."


class RunNotOver(Conflict):
    """The run may still write, or replace, the files."""

    code = "run_not_over"
    title = "The run is not over yet, so that nothing of it can be registered."
    action = "Wait until the run has finished, then register its model."


class ArtifactNotReady(Unavailable):
    """Some of the files are still being checked: a run may be over before. It passes by itself."""

    code = "artifact_not_ready"
    title = "Some of the files are still being stored."
    action = "Wait a moment, then try again: they have arrived and are being checked."

    def __init__(self, detail: str) -> None:
        super().__init__(detail, headers={"Retry-After": "2"})


class ArtifactDamaged(Conflict):
    """Stored bytes are not what their digest says."""

    code = "artifact_damaged"
    title = "A stored file is damaged and was not registered."
    action = "Run the training again; the damaged file is named in the detail."


class AliasReserved(Invalid):
    """A name that paths or version references need."""

    code = "alias_reserved"
    title = "This name cannot be an alias."
    action = "Choose a name that is neither 'history' nor reads like a version, such as production."


class EvaluationMalformed(Invalid):
    """An evaluation.json that is not of the documented form."""

    code = "evaluation_malformed"
    title = "The run's evaluation.json could not be read."
    action = "Write split, n, accuracy, labels and matrix as the documentation shows."


class IntakeFailed(AtomError):
    """A defect, or a limit of time, met while a run was looked at."""

    status = 500
    code = "intake_failed"
    title = "The registry could not take in the outputs of the run."
    action = "Have an administrator look into the worker's log; then register the model by hand."
