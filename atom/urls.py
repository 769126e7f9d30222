"""HTTP paths that Django answers. The portal, static files and media are in asgi.py."""

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path

from atom.core.documentation import DocsView, SchemaView
from atom.core.health import healthz, readyz
from atom.core.service_state import ServiceStateView
from atom.observability import HealthView, metrics_for
from atom.overview import OverviewView
from atom.web.composition import modules_of_apps

api_v1: list[URLPattern | URLResolver] = [
    path("schema/", SchemaView.as_view(), name="schema"),
    path("docs/", DocsView.as_view(url_name="schema"), name="docs"),
    path("health/", HealthView.as_view(), name="health"),
    path("state/", ServiceStateView.as_view(), name="state"),
    path("projects/<str:project>/overview/", OverviewView.as_view(), name="overview"),
    *(path("", include(module)) for module in modules_of_apps("api.urls")),
]

urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("readyz", readyz, name="readyz"),
    path("metrics", metrics_for, name="metrics"),
    path("api/v1/", include(api_v1)),
    path("api/mlflow/", include("atom.mlflow_api.urls")),
    path("admin/", admin.site.urls),
]

handler404 = "atom.core.problems.not_found"
handler400 = "atom.core.problems.bad_request"
handler500 = "atom.core.problems.server_error"
