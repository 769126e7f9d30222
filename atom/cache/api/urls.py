"""Addresses below a version."""

from django.urls import path

from atom.cache.api import views

_VERSION = "projects/<str:project>/datasets/<str:dataset>/versions/<str:ref>/"

urlpatterns = [
    path(f"{_VERSION}cache/", views.CacheView.as_view()),
    path(f"{_VERSION}warm/", views.WarmView.as_view()),
    path(f"{_VERSION}evict/", views.EvictView.as_view()),
]
