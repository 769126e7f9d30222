"""Tables of LabelX. Rows exist only for items inside label tasks, never for whole datasets."""

from atom.labeling.models.guideline_pictures import GuidelinePicture
from atom.labeling.models.issues import Issue, IssueComment
from atom.labeling.models.ontologies import Ontology, OntologyVersion
from atom.labeling.models.revisions import AnnotationRevision, AuditDecision, Draft
from atom.labeling.models.tasks import LabelTask
from atom.labeling.models.transfers import LabelTransfer
from atom.labeling.models.work import Skip, WorkItem, WorkSlot

__all__ = [
    "AnnotationRevision",
    "AuditDecision",
    "Draft",
    "GuidelinePicture",
    "Issue",
    "IssueComment",
    "LabelTask",
    "LabelTransfer",
    "Ontology",
    "OntologyVersion",
    "Skip",
    "WorkItem",
    "WorkSlot",
]
