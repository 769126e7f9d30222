"""Addresses of clusters, under `/api/v1/`."""

from __future__ import annotations

from django.urls import path

from atom.clusters.api import profiles, queues, views

urlpatterns = [
    path("clusters/", views.ClustersView.as_view()),
    path("clusters/check/", views.DryRunView.as_view()),
    path("clusters/<str:cluster>/", views.ClusterView.as_view()),
    path("clusters/<str:cluster>/profile/", profiles.ClusterProfileView.as_view()),
    path("clusters/<str:cluster>/queues/", queues.ClusterQueuesView.as_view()),
    path("clusters/<str:cluster>/check/", views.ClusterCheckView.as_view()),
    path("clusters/<str:cluster>/drain/", views.ClusterDrainView.as_view()),
    path("clusters/<str:cluster>/resume/", views.ClusterResumeView.as_view()),
]
