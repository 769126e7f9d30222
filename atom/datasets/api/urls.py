"""Addresses under `/api/v1/projects/<project>/datasets/`."""

from django.urls import URLPattern, URLResolver, include, path

from atom.datasets.api import views
from atom.datasets.archives.api import archive_views
from atom.datasets.browsing.api import (
    activity_views,
    entry_views,
    import_sign_views,
    item_views,
    manifest_views,
    saved_view_views,
    stored_file_views,
)
from atom.datasets.commits.api import commit_views, folder_label_views, split_views
from atom.datasets.operations.api import operation_views
from atom.datasets.packs.api import quarantine_views, upload_views
from atom.datasets.replicas.api import replica_views, store_views
from atom.datasets.retention.api import deletion_views, garbage_views, retention_views
from atom.datasets.sources.api import source_views
from atom.datasets.writers.api import write_job_views, writer_views

_version = [
    path("", views.VersionView.as_view()),
    path("entries/", entry_views.EntryListView.as_view()),
    path("entries/at/", entry_views.EntryView.as_view()),
    path("entries/history/", item_views.PathHistoryView.as_view()),
    path("entries/preview/", item_views.EntryPreviewView.as_view()),
    path("entries/picture/", item_views.PictureView.as_view()),
    path("stored-files/", stored_file_views.StoredFilesView.as_view()),
    path("split-preview/", split_views.SplitPreviewView.as_view()),
    path("stats/", entry_views.StatsView.as_view()),
    path("import-signs/", import_sign_views.ImportSignsView.as_view()),
    path("manifest/", manifest_views.ManifestView.as_view()),
    path("manifest-urls/", manifest_views.ManifestUrlsView.as_view()),
    path("pack-urls/", manifest_views.PackUrlsView.as_view()),
    path("source-urls/", manifest_views.SourceUrlsView.as_view()),
    path("restore/", retention_views.VersionRestoreView.as_view()),
    path("replicas/", replica_views.VersionReplicasView.as_view()),
    path("replicas/<str:store>/", replica_views.VersionReplicaView.as_view()),
    path("replica-preview/", replica_views.ReplicaPreviewView.as_view()),
]

_writer = [
    path("", writer_views.WriterView.as_view()),
    path("uploading/", writer_views.WriterUploadingView.as_view()),
    path("flushes/", writer_views.WriterFlushView.as_view()),
    path("commit/", writer_views.WriterCommitView.as_view()),
    path("abandon/", writer_views.WriterAbandonView.as_view()),
]

_write_job = [
    path("", write_job_views.WriteJobView.as_view()),
    path("tasks/", write_job_views.WriteJobTaskView.as_view()),
    path("commit/", write_job_views.WriteJobCommitView.as_view()),
    path("abort/", write_job_views.WriteJobAbortView.as_view()),
]

_dataset: list[URLPattern | URLResolver] = [
    path("", views.DatasetView.as_view()),
    path("versions/", views.VersionListView.as_view()),
    path("versions/<str:ref>/", include(_version)),
    path("branches/", views.BranchListView.as_view()),
    path("branches/<str:name>/", views.BranchView.as_view()),
    path("tags/", views.TagListView.as_view()),
    path("tags/<str:name>/", views.TagView.as_view()),
    path("views/", saved_view_views.SavedViewListView.as_view()),
    path("views/<str:view>/", saved_view_views.SavedViewView.as_view()),
    path("diff/", entry_views.DiffView.as_view()),
    path("activity/", activity_views.ActivityView.as_view()),
    path("quarantined-packs/", quarantine_views.QuarantinedPackListView.as_view()),
    path("retention/", retention_views.RetentionView.as_view()),
    path("holds/", retention_views.HoldListView.as_view()),
    path("holds/<uuid:hold_id>/release/", retention_views.HoldReleaseView.as_view()),
    path("uploads/", upload_views.UploadListView.as_view()),
    path("uploads/<uuid:upload_id>/", upload_views.UploadView.as_view()),
    path("uploads/<uuid:upload_id>/parts/", upload_views.UploadPartsView.as_view()),
    path("uploads/<uuid:upload_id>/complete/", upload_views.UploadCompleteView.as_view()),
    path("folder-labels/", folder_label_views.FolderLabelsView.as_view()),
    path("splits/", split_views.SplitListView.as_view()),
    path("commits/", commit_views.CommitListView.as_view()),
    path("commits/<uuid:commit_id>/", commit_views.CommitView.as_view()),
    path("commits/<uuid:commit_id>/wait/", commit_views.CommitWaitView.as_view()),
    path("commits/<uuid:commit_id>/cancel/", commit_views.CommitCancelView.as_view()),
    path("operations/", operation_views.OperationListView.as_view()),
    path("operations/dismiss/", operation_views.OperationDismissAllView.as_view()),
    path("operations/<uuid:operation_id>/dismiss/", operation_views.OperationDismissView.as_view()),
    path("merges/", operation_views.MergeView.as_view()),
    path("merges/preview/", operation_views.MergePreviewView.as_view()),
    path("reverts/", operation_views.RevertView.as_view()),
    path("reverts/preview/", operation_views.RevertPreviewView.as_view()),
    path("picks/", operation_views.PickView.as_view()),
    path("picks/preview/", operation_views.PickPreviewView.as_view()),
    path("archive/", archive_views.ArchiveHistoryView.as_view()),
    path("archive/urls/", archive_views.ArchiveUrlsView.as_view()),
    path("archive/loading/", archive_views.ArchiveLoadBeginView.as_view()),
    path("archive/loads/", archive_views.ArchiveLoadListView.as_view()),
    path("edits/", operation_views.EditView.as_view()),
    path("edits/preview/", operation_views.EditPreviewView.as_view()),
    path("writers/", writer_views.WriterListView.as_view()),
    path("writers/<uuid:writer_id>/", include(_writer)),
    path("write-jobs/", write_job_views.WriteJobListView.as_view()),
    path("write-jobs/<uuid:write_job_id>/", include(_write_job)),
]

_source = [
    path("", source_views.SourceView.as_view()),
    path("scans/", source_views.ScanListView.as_view()),
    path("scans/<uuid:scan_id>/", source_views.ScanView.as_view()),
]

urlpatterns = [
    path("stores/", store_views.StoresView.as_view()),
    path("stores/<str:store>/", store_views.StoreView.as_view()),
    path("stores/<str:store>/check/", store_views.StoreCheckView.as_view()),
    path("projects/<str:project>/replicas/", replica_views.ReplicasView.as_view()),
    path("projects/<str:project>/garbage-runs/", garbage_views.GarbageRunListView.as_view()),
    path(
        "projects/<str:project>/garbage-runs/<uuid:garbage_run_id>/",
        garbage_views.GarbageRunView.as_view(),
    ),
    path(
        "projects/<str:project>/garbage-runs/<uuid:garbage_run_id>/pardon/",
        garbage_views.GarbageRunPardonView.as_view(),
    ),
    path("projects/<str:project>/sources/", source_views.SourceListView.as_view()),
    path("projects/<str:project>/source-tests/", source_views.SourceProbeView.as_view()),
    path("projects/<str:project>/sources/<str:source>/", include(_source)),
    path(
        "projects/<str:project>/deleted-datasets/",
        deletion_views.DeletedDatasetListView.as_view(),
    ),
    path(
        "projects/<str:project>/deleted-datasets/<uuid:dataset_id>/restore/",
        deletion_views.DatasetRestoreView.as_view(),
    ),
    path("projects/<str:project>/datasets/", views.DatasetListView.as_view()),
    path("projects/<str:project>/datasets/<str:dataset>/", include(_dataset)),
]
