"""The door of Django's admin: the same limits as at that of the portal."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.admin.forms import AdminAuthenticationForm
from django.core.exceptions import ValidationError

from atom.accounts.actions.signing_in import sign_in_attempt
from atom.accounts.errors import TooManyAttempts


class SignInForm(AdminAuthenticationForm):
    """Counts failures like `auth/login/` does."""

    def clean(self) -> dict[str, Any]:
        """Check name and password, unless there were too many attempts."""
        assert self.request is not None, "the admin gives its login form the request"
        try:
            with sign_in_attempt(self.request, str(self.cleaned_data.get("username", ""))):
                return super().clean()
        except TooManyAttempts as refused:
            wait_s = refused.extra["retry_after_s"]
            raise ValidationError(f"{refused.title} Try again in {wait_s} s.") from refused


admin.site.login_form = SignInForm
