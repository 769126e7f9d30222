"""Paths of the registry, and of lineage below dataset versions."""

from django.urls import path

from atom.models_registry.api import downloads, views

MODELS = "projects/<str:project>/models/"
MODEL = f"{MODELS}<str:model>/"
VERSION = f"{MODEL}versions/<int:number>/"
DATASET_VERSION = "projects/<str:project>/datasets/<str:dataset>/versions/<str:ref>/"

urlpatterns = [
    path(MODELS, views.ModelListView.as_view()),
    path(MODEL, views.ModelView.as_view()),
    path(f"{MODEL}versions/", views.VersionListView.as_view()),
    path(VERSION, views.VersionView.as_view()),
    path(f"{VERSION}evaluations/", views.EvaluationListView.as_view()),
    path(f"{VERSION}lineage/", downloads.ModelLineageView.as_view()),
    path(f"{VERSION}download/", downloads.DownloadView.as_view()),
    path(f"{VERSION}download/zip/", downloads.DownloadZipView.as_view()),
    path(f"{MODEL}aliases/", views.AliasListView.as_view()),
    path(f"{MODEL}aliases/history/", views.AliasHistoryView.as_view()),
    path(f"{MODEL}aliases/<str:alias>/", views.AliasView.as_view()),
    path(f"{DATASET_VERSION}lineage/", downloads.DatasetLineageView.as_view()),
]
