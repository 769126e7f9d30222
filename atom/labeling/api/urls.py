"""Paths of LabelX: collections below their project, single things by id."""

from django.urls import path

from atom.labeling.api.views import (
    audits,
    guideline_pictures,
    issues,
    item_labels,
    ontologies,
    pages,
    people,
    settings,
    tasks,
    tiles,
    transfers,
    work,
)

PROJECT = "projects/<str:project>/labelx"
# Below the project: a guideline shows only pictures of its own one.
PICTURE = f"{PROJECT}/guideline-pictures/<uuid:picture_id>"
ONTOLOGY = "labelx/ontologies/<uuid:ontology_id>"
TASK = "labelx/tasks/<uuid:task_id>"
ISSUE = "labelx/issues/<uuid:issue_id>"
TRANSFER = "labelx/transfers/<uuid:transfer_id>"
SLOT = "labelx/slots/<uuid:slot_id>"

urlpatterns = [
    path(f"{PROJECT}/ontologies/", ontologies.OntologyListView.as_view()),
    path(f"{PROJECT}/guideline-pictures/", guideline_pictures.GuidelinePictureListView.as_view()),
    path(f"{PICTURE}/", guideline_pictures.GuidelinePictureView.as_view()),
    path(f"{PICTURE}/bytes/", guideline_pictures.GuidelinePictureBytesView.as_view()),
    path(f"{PROJECT}/item-labels/", item_labels.ItemLabelsView.as_view()),
    path(f"{PROJECT}/labelers/", people.LabelersView.as_view()),
    path(f"{PROJECT}/tasks/", tasks.LabelTaskListView.as_view()),
    path(f"{PROJECT}/task-preview/", tasks.TaskPreviewView.as_view()),
    path(f"{PROJECT}/version-classes/", ontologies.VersionClassesView.as_view()),
    path(f"{PROJECT}/transfers/", transfers.LabelTransferListView.as_view()),
    path(f"{PROJECT}/imports/", transfers.LabelImportsView.as_view()),
    path(f"{PROJECT}/exports/", transfers.LabelExportsView.as_view()),
    path(f"{TRANSFER}/", transfers.LabelTransferView.as_view()),
    path(f"{TRANSFER}/confirm/", transfers.ConfirmTransferView.as_view()),
    path(f"{TRANSFER}/cancel/", transfers.CancelTransferView.as_view()),
    path(f"{TRANSFER}/download/", transfers.LabelDownloadView.as_view()),
    path("labelx/templates/", ontologies.TemplatesView.as_view()),
    path(f"{ONTOLOGY}/", ontologies.OntologyView.as_view()),
    path(f"{ONTOLOGY}/versions/", ontologies.OntologyVersionListView.as_view()),
    path(f"{ONTOLOGY}/versions/<int:number>/", ontologies.OntologyVersionView.as_view()),
    path(f"{TASK}/", settings.LabelTaskView.as_view()),
    path(f"{TASK}/ontology/", settings.MoveOntologyView.as_view()),
    path(f"{TASK}/start/", tasks.StartView.as_view()),
    path(f"{TASK}/pause/", tasks.PauseView.as_view()),
    path(f"{TASK}/publish/", tasks.PublishView.as_view()),
    path(f"{TASK}/continue/", tasks.ContinueView.as_view()),
    path(f"{TASK}/skipped/", tasks.SettleSkippedView.as_view()),
    path(f"{TASK}/items/", tasks.TaskItemsView.as_view()),
    path(f"{TASK}/stats/", tasks.TaskStatsView.as_view()),
    path(f"{TASK}/lease/", work.LeaseView.as_view()),
    path(f"{TASK}/my-work/", work.MyWorkView.as_view()),
    path(f"{TASK}/take-up/", pages.TakeUpView.as_view()),
    path(f"{TASK}/show/", pages.ShowView.as_view()),
    path(f"{TASK}/leave/", pages.LeaveView.as_view()),
    path(f"{TASK}/waiting/", pages.WaitingView.as_view()),
    path(f"{TASK}/unskip/", pages.UnskipAllView.as_view()),
    path(f"{TASK}/submit-batch/", work.SubmitBatchView.as_view()),
    path(f"{TASK}/corrections/", audits.CorrectionsView.as_view()),
    path(f"{TASK}/audit-lease/", audits.AuditLeaseView.as_view()),
    path(f"{SLOT}/heartbeat/", work.HeartbeatView.as_view()),
    path(f"{SLOT}/release/", work.ReleaseView.as_view()),
    path(f"{SLOT}/skip/", work.SkipView.as_view()),
    path(f"{SLOT}/unskip/", work.UnskipView.as_view()),
    path(f"{SLOT}/reopen/", work.ReopenView.as_view()),
    path(f"{SLOT}/free/", work.FreeView.as_view()),
    path(f"{SLOT}/draft/", work.DraftView.as_view()),
    path(f"{SLOT}/submit/", work.SubmitView.as_view()),
    path("labelx/items/<uuid:item_id>/revisions/", work.ItemRevisionsView.as_view()),
    path("labelx/items/<uuid:item_id>/tiles/", tiles.ItemTilesView.as_view()),
    path("labelx/items/<uuid:item_id>/issues/", issues.ItemIssuesView.as_view()),
    path(f"{ISSUE}/comments/", issues.CommentsView.as_view()),
    path(f"{ISSUE}/resolve/", issues.ResolveView.as_view()),
    path("labelx/audits/", audits.AuditsView.as_view()),
]
