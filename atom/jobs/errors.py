"""Every failure of the jobs API, one class each."""

from __future__ import annotations

from atom.core.errors import (
    AlreadyExists,
    AtomError,
    Conflict,
    Invalid,
    NotAuthenticated,
    NotFound,
    PermissionDenied,
)


class InvalidParameters(Invalid):
    """A parameter of the workflow is unknown, missing or of the wrong type."""

    code = "invalid_parameters"
    title = "Some of the workflow's parameters are not valid."
    action = "Correct the fields listed under errors; the workflow's page lists its parameters."


class InvalidRun(Invalid):
    """The request for a run is not complete or contradicts itself."""

    code = "invalid_run"
    title = "The run cannot be created like this."
    action = "Correct the fields listed under errors."


class PredictionsMissing(NotFound):
    """The run kept no prediction of single files."""

    code = "predictions_missing"
    title = "This run has no predictions of single files."
    action = "Evaluate the model again: the workflow evaluate-classifier keeps them."


class PredictionsMalformed(Conflict):
    """The run's file of predictions cannot be read."""

    code = "predictions_malformed"
    title = "The predictions of this run cannot be read."
    action = "Write predictions.json as the workflow evaluate-classifier does, then run it again."


class InvalidImport(Invalid):
    """The request names an import that cannot be looked at."""

    code = "invalid_import"
    title = "The import cannot be looked at like this."
    action = "Correct the fields listed under errors."


class ImportReportMissing(NotFound):
    """The run is no import, or it has left no report yet."""

    code = "import_report_missing"
    title = "This run has no report of an import."
    action = "Wait until the run has succeeded, or start an import from the page of a dataset."


class ImportReportMalformed(Conflict):
    """The report of the run cannot be read."""

    code = "import_report_malformed"
    title = "The report of this import cannot be read."
    action = "Look at the files again; if it happens again, read the log of the run."


class ImportNotALook(Conflict):
    """Only a look can be confirmed, and this run has imported already."""

    code = "import_not_a_look"
    title = "This run has made its version already."
    action = "Open the version that its report names, or look at the files again."


class ImportRefused(Conflict):
    """With these choices, nothing would be imported."""

    code = "import_refused"
    title = "Nothing can be imported like this."
    action = "Correct the files, or look at them again with other choices."


class LossNotAccepted(Conflict):
    """More objects or labels would be lost than is accepted; `losses` has the numbers."""

    code = "import_loss_not_accepted"
    title = "This import would lose more objects or labels than was accepted."
    action = "Correct the files and look again, or accept the share that the report names."


class InvalidComparison(Invalid):
    """Too few or too many runs to set side by side, or no runs at all."""

    code = "invalid_comparison"
    title = "These runs cannot be compared."
    action = "Choose 2 to 50 runs of one project, by their numbers or ids."


class InvalidRunSearch(Invalid):
    """The text that asks for runs cannot be read; `position` counts its characters from 1."""

    code = "invalid_run_search"
    title = "The search cannot be read."
    action = "Correct it at the position given: state:failed lr>0.01 metric.loss<0.3 tag:baseline."


class InvalidRunSort(Invalid):
    """Runs have no such order."""

    code = "invalid_run_sort"
    title = "Runs cannot be sorted like this."
    action = (
        "Sort by created, number, name, duration, cpu_hours, gpu_hours, param.NAME, metric.NAME."
    )


class RunChanged(Conflict):
    """Another person changed the description of the run; `current` holds the present one."""

    code = "run_changed"
    title = "The run's notes or tags were changed meanwhile."
    action = "Read the run again, put both changes together and send them with its revision."


class TooManyTags(Invalid):
    """A run would have more tags than it may."""

    code = "too_many_tags"
    title = "A run has at most 30 tags."
    action = "Remove some of its tags first."


class ResourcesNeverFit(Invalid):
    """No machine could ever run this, so it is refused instead of waiting for ever."""

    code = "resources_never_fit"
    title = "No machine of this installation is large enough for the job."
    action = "Ask for less CPU, memory or GPUs, or add a larger machine."


class NotRetryable(Conflict):
    """The run is not over, or it succeeded."""

    code = "not_retryable"
    title = "Only a run that failed or was cancelled can be retried."
    action = (
        "Wait until it is over, or cancel it; if it has succeeded, clone it to do the same once "
        "more."
    )


class NotMovable(Conflict):
    """The run has succeeded, is ending, or is none of a registered cluster."""

    code = "not_movable"
    title = "This run cannot be moved to another cluster."
    action = "Wait until it is over, or start a copy of it and choose the cluster there."


class NotCancellable(Conflict):
    """The run is over."""

    code = "not_cancellable"
    title = "The run is already over."
    action = "Nothing is left to cancel."


class RunIsTracked(Conflict):
    """The run's program runs elsewhere: Atom has nothing that it could start again."""

    code = "run_is_tracked"
    title = "This run was only reported to Atom, which has no command to start again."
    action = "Start its program again where it ran; it reports a new run."


class ExperimentNameTaken(AlreadyExists):
    """The project has an experiment of this name, perhaps an archived one."""

    code = "experiment_name_taken"
    title = "The project already has an experiment with that name."
    action = "Choose another name, or bring the archived experiment back."


class LogGap(Conflict):
    """Log bytes came out of order: the runner has to go back to `next`."""

    code = "log_gap"
    title = "Log bytes before this offset are missing."
    action = "Send the log again from the offset given as next."


class MetricsGap(Conflict):
    """A batch of metrics came out of order."""

    code = "metrics_gap"
    title = "A batch of metrics before this one is missing."
    action = "Send the batches again from the one given as next_seq."


class BadLogFrames(AtomError):
    """The body is not made of log frames."""

    code = "bad_log_frames"
    title = "The body is not a sequence of log frames."
    action = "Update the runner; its log format is not the server's."


class OutputIncomplete(Conflict):
    """An output was reported complete, but the stored object is not what was announced."""

    code = "output_incomplete"
    title = "The stored file does not have the size that was announced."
    action = "Upload the file again."


class CodeIncomplete(Conflict):
    """A code snapshot was reported complete, but the stored object has another digest."""

    code = "code_incomplete"
    title = "The uploaded code does not have the size and digest that were announced."
    action = "Upload the code again."


class SecretsMissing(Conflict):
    """A secret that the run needs was removed."""

    code = "secrets_missing"
    title = "The project does not have a secret that the run asks for."
    action = "Set the secret again, then retry the run."


class TooManySecrets(Conflict):
    """The project has as many secrets as it may."""

    code = "too_many_secrets"
    title = "The project has 200 secrets already."
    action = "Remove those that nothing uses any more."


class NotYourComment(PermissionDenied):
    """Only the author of a comment may change it."""

    code = "not_your_comment"
    title = "Only its author can change or remove a comment."
    action = "Answer it with a comment of your own."


class ShareUnknown(NotFound):
    """A link to a run does not work; the answer hides the reason from its holder."""

    code = "share_unknown"
    title = "This link to a run does not work, or not any more."
    action = "Ask whoever sent it to you for a new one."


class SharingIsOff(PermissionDenied):
    """The installation shows no runs to people without an account."""

    code = "sharing_is_off"
    title = "This installation makes no links for people without an account."
    action = "Ask an administrator of the installation, or invite the person to the project."


class TooManyShares(Conflict):
    """The run has as many living links as it may."""

    code = "too_many_shares"
    title = "The run has 20 links already."
    action = "End those that nobody needs any more."


class NotYourShare(PermissionDenied):
    """Only the maker of a link or an administrator of the project may end it."""

    code = "not_your_share"
    title = "Only who made this link, or an administrator of the project, can end it."
    action = "Ask one of them to end it."


class RunArchived(Conflict):
    """An archived run is not shown to people outside."""

    code = "run_archived"
    title = "The run is archived, so a link to it would not work."
    action = "Bring the run back from the archive first."


class RunnerTokenInvalid(NotAuthenticated):
    """The attempt is over, or the token was never valid."""

    code = "runner_token_invalid"
    title = "This runner's token is not valid any more."
    action = "Stop: the attempt has ended."


class RankNotAccepted(NotAuthenticated):
    """A process asks to be a rank of a run, and its cluster does not say that it is one."""

    code = "rank_not_accepted"
    title = "This process is no rank of that run."
    action = "Stop: only pods that Atom asked the cluster for may start."


class VolumeRefused(PermissionDenied):
    """No run of the pod has this input."""

    code = "volume_refused"
    title = "This pod may not have this volume."
    action = "Start a run that has the version as an input; Atom adds the volume to its pods."
