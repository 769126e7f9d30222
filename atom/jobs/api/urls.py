"""Addresses of runs, workflows and the runner protocol, under `/api/v1/`."""

from __future__ import annotations

from django.urls import path

from atom.jobs.advice.api import advice
from atom.jobs.artifacts.api import files, run_retention
from atom.jobs.attempts.api import runner, runner_builds, runner_join, runner_metrics
from atom.jobs.code.api import code_fetches, code_snapshots
from atom.jobs.comparing.api import code_diffs, comparing
from atom.jobs.imports.api import imports
from atom.jobs.logs.api import log_search, logs, merged_logs
from atom.jobs.machines.api import cluster_quotas, machines, pod_checks, queue, unknown_jobs
from atom.jobs.metrics.api import metrics
from atom.jobs.predictions.api import predictions
from atom.jobs.preflight.api import preflight
from atom.jobs.runs.api import (
    cluster_choices,
    cluster_runs,
    comments,
    placements,
    run_changes,
    run_lists,
    views,
    waiting,
)
from atom.jobs.secrets.api import secrets
from atom.jobs.sharing.api import shared_run, shares
from atom.jobs.volumes.api import volumes
from atom.jobs.workflows.api import workflows

RUN = "runs/<uuid:run_id>/"
PROJECT = "projects/<slug:project>/"

urlpatterns = [
    path("machines/", machines.MachinesView.as_view()),
    path("machines/<uuid:machine_id>/cordon/", machines.CordonView.as_view()),
    path("clusters/<str:cluster>/runs/", cluster_runs.ClusterRunsView.as_view()),
    path("clusters/<str:cluster>/unknown-jobs/", unknown_jobs.UnknownJobsView.as_view()),
    path("clusters/<str:cluster>/quotas/", cluster_quotas.ClusterQuotasView.as_view()),
    path("clusters/<str:cluster>/pod-check/", pod_checks.PodCheckView.as_view()),
    path("workflows/", workflows.WorkflowsView.as_view()),
    path("workflows/<slug:slug>/", workflows.WorkflowView.as_view()),
    path(f"{PROJECT}runs/", run_lists.RunsView.as_view()),
    path(f"{PROJECT}cluster-choices/", cluster_choices.ClusterChoicesView.as_view()),
    path(f"{PROJECT}placements/preview/", placements.PlacementPreviewView.as_view()),
    path(f"{PROJECT}runs/sums/", run_lists.RunSumsView.as_view()),
    path(f"{PROJECT}runs/columns/", run_lists.RunColumnsView.as_view()),
    path(f"{PROJECT}runs/tags/", run_changes.RunTagsView.as_view()),
    path(f"{PROJECT}runs/cancel/", run_changes.RunsCancelView.as_view()),
    path(f"{PROJECT}runs/archive/", run_changes.RunsArchiveView.as_view()),
    path(f"{PROJECT}runs/restore/", run_changes.RunsRestoreView.as_view()),
    path(f"{PROJECT}run-retention/", run_retention.RunPolicyView.as_view()),
    path(f"{PROJECT}run-shares/", shares.ProjectRunSharesView.as_view()),
    path(f"{PROJECT}queue/", queue.QueueView.as_view()),
    path(f"{PROJECT}runs/preview/", views.PreviewView.as_view()),
    path(f"{PROJECT}runs/preflight/", preflight.RunPreflightView.as_view()),
    path(f"{PROJECT}runs/compare/", comparing.CompareView.as_view()),
    path(f"{PROJECT}runs/compare/series/", comparing.CompareSeriesView.as_view()),
    path(f"{PROJECT}runs/compare/code/", code_diffs.CompareCodeView.as_view()),
    path(f"{PROJECT}imports/", imports.ImportsView.as_view()),
    path(f"{PROJECT}code-snapshots/", code_snapshots.CodeSnapshotsView.as_view()),
    path(f"{PROJECT}secrets/", secrets.SecretsView.as_view()),
    path(f"{PROJECT}secrets/<str:name>/", secrets.SecretView.as_view()),
    path(f"{PROJECT}code-fetches/", code_fetches.CodeFetchesView.as_view()),
    path(f"{PROJECT}code-fetches/<uuid:fetch_id>/", code_fetches.CodeFetchView.as_view()),
    path(f"{PROJECT}git-hosts/", code_fetches.GitHostsView.as_view()),
    path(f"{PROJECT}git-hosts/<str:name>/", code_fetches.GitHostView.as_view()),
    path("code-snapshots/<uuid:snapshot_id>/complete/", code_snapshots.CodeCompleteView.as_view()),
    path(RUN, views.RunView.as_view()),
    path(f"{RUN}wait/", waiting.WaitView.as_view()),
    path(f"{RUN}cancel/", views.CancelView.as_view()),
    path(f"{RUN}retry/", views.RetryView.as_view()),
    path(f"{RUN}move/", views.MoveView.as_view()),
    path(f"{RUN}clone/", views.CloneView.as_view()),
    path(f"{RUN}explain/", views.ExplainView.as_view()),
    path(f"{RUN}retention/", run_retention.RunKeepingView.as_view()),
    path(f"{RUN}events/", views.EventsView.as_view()),
    path(f"{RUN}attempts/", views.AttemptsView.as_view()),
    path(f"{RUN}metrics/", metrics.MetricsView.as_view()),
    path(f"{RUN}metrics/series/", metrics.SeriesView.as_view()),
    path(f"{RUN}advice/", advice.AdviceView.as_view()),
    path(f"{RUN}files/", files.FilesView.as_view()),
    path(f"{RUN}files/folder/", files.FolderView.as_view()),
    path(f"{RUN}files/<uuid:file_id>/", files.FileView.as_view()),
    path(f"{RUN}files/<uuid:file_id>/preview/", files.PreviewView.as_view()),
    path(f"{RUN}files/<uuid:file_id>/picture/", files.PictureView.as_view()),
    path(f"{RUN}predictions/", predictions.PredictionsView.as_view()),
    path(f"{RUN}import-report/", imports.ImportReportView.as_view()),
    path(f"{RUN}import/", imports.ImportConfirmView.as_view()),
    path(f"{RUN}code/changes/", code_diffs.CodeChangesView.as_view()),
    path(f"{RUN}comments/", comments.CommentsView.as_view()),
    path(f"{RUN}comments/<uuid:comment_id>/", comments.CommentView.as_view()),
    path(f"{RUN}shares/", shares.RunSharesView.as_view()),
    path(f"{RUN}shares/<uuid:share_id>/", shares.RunShareView.as_view()),
    path(f"{RUN}logs/", logs.LogsView.as_view()),
    path(f"{RUN}logs/search/", log_search.LogSearchView.as_view()),
    path(f"{RUN}logs/merged/", merged_logs.MergedLogsView.as_view()),
    path(f"{RUN}logs/raw/", log_search.RawLogView.as_view()),
    path("shared-run/", shared_run.SharedRunView.as_view()),
    path("shared-run/metrics/", shared_run.SharedMetricsView.as_view()),
    path("shared-run/metrics/series/", shared_run.SharedSeriesView.as_view()),
    path("shared-run/log/", shared_run.SharedLogView.as_view()),
    path("runner/join/", runner_join.JoinView.as_view()),
    path("runner/layers/<str:sha256>/", runner_join.LayerView.as_view()),
    path("runner/environments/log/", runner_builds.BuildLogView.as_view()),
    path("runner/environments/upload/", runner_builds.BuildUploadView.as_view()),
    path("runner/environments/finish/", runner_builds.BuildFinishView.as_view()),
    path("runner/environments/fail/", runner_builds.BuildFailView.as_view()),
    path("runner/job/", runner.JobView.as_view()),
    path("agent/volumes/", volumes.AgentVolumesView.as_view()),
    path("runner/datasets/<str:alias>/index/", runner.StreamedIndexView.as_view()),
    path("runner/datasets/<str:alias>/pack-urls/", runner.StreamedPacksView.as_view()),
    path("runner/datasets/<str:alias>/source-urls/", runner.StreamedSourcesView.as_view()),
    path("runner/heartbeat/", runner.HeartbeatView.as_view()),
    path("runner/started/", runner.StartedView.as_view()),
    path("runner/logs/", runner.RunnerLogsView.as_view()),
    path("runner/logs/eof/", runner.RunnerLogEofView.as_view()),
    path("runner/metrics/", runner_metrics.RunnerMetricsView.as_view()),
    path("runner/progress/", runner.ProgressView.as_view()),
    path("runner/outputs/presign/", runner.PresignView.as_view()),
    path("runner/outputs/complete/", runner.CompleteView.as_view()),
    path("runner/exit/", runner.ExitView.as_view()),
]
