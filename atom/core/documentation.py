"""The API's description and its page: a browser without a session is sent to sign in."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpResponseRedirect
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework import exceptions


class _ForBrowsers:
    """Sends a person to the sign-in page, which comes back here; programs get the problem."""

    def perform_content_negotiation(self, request: Any, force: bool = False) -> Any:
        """Choose the page also for a program that accepts none, so that it first gets the 401."""
        return super().perform_content_negotiation(request, force=True)  # type: ignore[misc]

    def handle_exception(self, exc: Exception) -> Any:
        """Answer an anonymous browser with a redirect and everything else as usual."""
        request = self.request  # type: ignore[attr-defined]  # mixin of APIView
        takes_html = "text/html" in request.headers.get("Accept", "")
        if isinstance(exc, exceptions.NotAuthenticated) and takes_html:
            query = urlencode({"next": request.get_full_path()})
            return HttpResponseRedirect(f"{settings.LOGIN_URL}?{query}")
        return super().handle_exception(exc)  # type: ignore[misc]  # mixin of APIView


class SchemaView(_ForBrowsers, SpectacularAPIView):
    """`schema/`: OpenAPI."""


class DocsView(_ForBrowsers, SpectacularSwaggerSplitView):
    """`docs/`: every operation, to read and to try; its script has an address of its own."""

    template_name = "atom/swagger.html"
