"""Addresses of runs, workflows and the runner protocol, under `/api/v1/`."""

from __future__ import annotations

from django.urls import path

from atom.jobs.api import (
    code_diffs,
    code_fetches,
    comments,
    comparing,
    files,
    log_search,
    observing,
    runner,
    secrets,
    views,
    waiting,
)

RUN = "runs/<uuid:run_id>/"
PROJECT = "projects/<slug:project>/"

urlpatterns = [
    path("workflows/", views.WorkflowsView.as_view()),
    path("workflows/<slug:slug>/", views.WorkflowView.as_view()),
    path(f"{PROJECT}runs/", views.RunsView.as_view()),
    path(f"{PROJECT}runs/preview/", views.PreviewView.as_view()),
    path(f"{PROJECT}runs/compare/", comparing.CompareView.as_view()),
    path(f"{PROJECT}runs/compare/series/", comparing.CompareSeriesView.as_view()),
    path(f"{PROJECT}runs/compare/code/", code_diffs.CompareCodeView.as_view()),
    path(f"{PROJECT}code-snapshots/", views.CodeSnapshotsView.as_view()),
    path(f"{PROJECT}secrets/", secrets.SecretsView.as_view()),
    path(f"{PROJECT}secrets/<str:name>/", secrets.SecretView.as_view()),
    path(f"{PROJECT}code-fetches/", code_fetches.CodeFetchesView.as_view()),
    path(f"{PROJECT}code-fetches/<uuid:fetch_id>/", code_fetches.CodeFetchView.as_view()),
    path(f"{PROJECT}git-hosts/", code_fetches.GitHostsView.as_view()),
    path(f"{PROJECT}git-hosts/<str:name>/", code_fetches.GitHostView.as_view()),
    path("code-snapshots/<uuid:snapshot_id>/complete/", views.CodeCompleteView.as_view()),
    path(RUN, views.RunView.as_view()),
    path(f"{RUN}wait/", waiting.WaitView.as_view()),
    path(f"{RUN}cancel/", views.CancelView.as_view()),
    path(f"{RUN}retry/", views.RetryView.as_view()),
    path(f"{RUN}clone/", views.CloneView.as_view()),
    path(f"{RUN}explain/", views.ExplainView.as_view()),
    path(f"{RUN}events/", views.EventsView.as_view()),
    path(f"{RUN}attempts/", views.AttemptsView.as_view()),
    path(f"{RUN}metrics/", observing.MetricsView.as_view()),
    path(f"{RUN}metrics/series/", observing.SeriesView.as_view()),
    path(f"{RUN}advice/", observing.AdviceView.as_view()),
    path(f"{RUN}files/", observing.FilesView.as_view()),
    path(f"{RUN}files/folder/", files.FolderView.as_view()),
    path(f"{RUN}files/<uuid:file_id>/", files.FileView.as_view()),
    path(f"{RUN}files/<uuid:file_id>/preview/", files.PreviewView.as_view()),
    path(f"{RUN}code/changes/", code_diffs.CodeChangesView.as_view()),
    path(f"{RUN}comments/", comments.CommentsView.as_view()),
    path(f"{RUN}comments/<uuid:comment_id>/", comments.CommentView.as_view()),
    path(f"{RUN}logs/", observing.LogsView.as_view()),
    path(f"{RUN}logs/search/", log_search.LogSearchView.as_view()),
    path(f"{RUN}logs/raw/", log_search.RawLogView.as_view()),
    path("runner/job/", runner.JobView.as_view()),
    path("runner/datasets/<str:alias>/pack-urls/", runner.StreamedPacksView.as_view()),
    path("runner/datasets/<str:alias>/source-urls/", runner.StreamedSourcesView.as_view()),
    path("runner/heartbeat/", runner.HeartbeatView.as_view()),
    path("runner/started/", runner.StartedView.as_view()),
    path("runner/logs/", runner.RunnerLogsView.as_view()),
    path("runner/logs/eof/", runner.RunnerLogEofView.as_view()),
    path("runner/metrics/", runner.RunnerMetricsView.as_view()),
    path("runner/progress/", runner.ProgressView.as_view()),
    path("runner/outputs/presign/", runner.PresignView.as_view()),
    path("runner/outputs/complete/", runner.CompleteView.as_view()),
    path("runner/exit/", runner.ExitView.as_view()),
]
