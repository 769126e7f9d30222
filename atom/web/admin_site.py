"""Django's admin behind the portal's sign-in.

It has no form for passwords of its own, so limits, second factor and single sign-on count here too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth import logout
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.utils import translation
from unfold.sites import UnfoldAdminSite

from atom.accounts.models import User
from atom.accounts.permissions import lacks_second_factor

_LANGUAGES = {"zh": "zh-hans"}


class OperatorSite(UnfoldAdminSite):  # type: ignore[misc]  # untyped library
    """For administrators of the installation; others do not learn that it is there."""

    site_title = site_header = "Atom"
    enable_nav_sidebar = True

    def has_permission(self, request: HttpRequest) -> bool:
        """Return whether the caller may look."""
        user = request.user
        return (
            isinstance(user, User)
            and user.is_active
            and user.is_superuser
            and not lacks_second_factor(user, request.session)
        )

    def admin_view(
        self, view: Callable[..., HttpResponse], cacheable: bool = False
    ) -> Callable[..., HttpResponse]:
        """Wrap a view: in the language of its reader, pages included that are rendered late."""
        guarded = super().admin_view(view, cacheable)

        def spoken(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            language = getattr(request.user, "language", "en")
            with translation.override(_LANGUAGES.get(language, "en")):
                response: HttpResponse = guarded(request, *args, **kwargs)
                if isinstance(response, TemplateResponse):
                    response.render()
            return response

        # Marks of Django's decorators (CSRF) count on what the router calls.
        spoken.__dict__.update(guarded.__dict__)
        return spoken

    def login(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Send to the portal's sign-in page, which leads back."""
        target = request.GET.get("next", "/admin/")
        if isinstance(request.user, User):
            if not request.user.is_superuser:
                raise Http404
            if self.has_permission(request):
                return HttpResponseRedirect("/admin/")
            return HttpResponseRedirect(f"/second-factor?{urlencode({'next': target})}")
        return HttpResponseRedirect(f"/login?{urlencode({'next': target})}")

    def logout(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """End the session; by POST only, as Django has it."""
        if request.method == "POST":
            logout(request)
        return HttpResponseRedirect("/login")

    def password_change(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Send to where passwords are changed, with all that belongs to it."""
        return HttpResponseRedirect("/settings/account")
