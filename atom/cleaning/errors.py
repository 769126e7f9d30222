"""One class per way in which a cleaning report can fail or be refused."""

from atom.core.errors import Conflict, Invalid, NotFound


class ReportNotFound(NotFound):
    """The project has no such report."""

    code = "cleaning_report_not_found"
    title = "There is no such cleaning report."
    action = "List the reports of the version."


class ReportUnderWay(Conflict):
    """The version is being looked through already."""

    code = "cleaning_under_way"
    title = "A cleaning report of this version is being made already."
    action = "Wait for it, or cancel it and start another."


class ReportNotReady(Conflict):
    """The findings are not there yet, or never will be."""

    code = "cleaning_report_not_ready"
    title = "The cleaning report has no findings to work with."
    action = "Wait until it is ready; if it has failed, start another."


class ReportOver(Conflict):
    """A report that has ended cannot be cancelled."""

    code = "cleaning_report_over"
    title = "The cleaning report has ended already."
    action = "Nothing is left to cancel; reload to see how it ended."


class MeasuringFailed(Conflict):
    """The run that measures the images did not succeed."""

    code = "measuring_failed"
    title = "The images could not be measured."
    action = "Read the log of the run, repair what it names, and start another report."


class FeaturesMalformed(Invalid):
    """The run left no file of features, or one of another form."""

    code = "image_features_malformed"
    title = "The measurements of the run cannot be read."
    action = "Start another report; if it happens again, read the log of the run."


class CleaningGivenUp(Conflict):
    """A worker died or failed at this report again and again."""

    code = "cleaning_given_up"
    title = "The findings could not be worked out."
    action = "Look into the log of the worker, then start another report."


class NotAFinding(Invalid):
    """A path that the report did not find."""

    code = "not_a_finding"
    title = "Some of these files are not findings of this report."
    action = "Choose from the report's findings; other files are removed by an edit."


class FindingsOutdated(Conflict):
    """Files have changed, or are gone, since the report saw them."""

    code = "findings_outdated"
    title = "The branch no longer has these files as the report saw them."
    action = "Nothing was removed. Make a report of the present version, and choose again."
