"""Paths of cleaning reports."""

from django.urls import path

from atom.cleaning.api import views

_VERSION = "projects/<str:project>/datasets/<str:dataset>/versions/<str:ref>/"
_REPORT = "projects/<str:project>/cleaning/<uuid:report_id>/"

urlpatterns = [
    path(f"{_VERSION}cleaning/", views.ReportListView.as_view()),
    path(_REPORT, views.ReportView.as_view()),
    path(f"{_REPORT}cancel/", views.CancelView.as_view()),
    path(f"{_REPORT}findings/", views.FindingsView.as_view()),
    path(f"{_REPORT}paths/", views.FindingPathsView.as_view()),
    path(f"{_REPORT}removals/", views.RemovalView.as_view()),
]
