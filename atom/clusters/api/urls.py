"""Addresses of clusters, under `/api/v1/`."""

from __future__ import annotations

from django.urls import path

from atom.clusters.api.views import ClustersView

urlpatterns = [path("clusters/", ClustersView.as_view())]
