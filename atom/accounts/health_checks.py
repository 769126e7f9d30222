"""Metrics of users, projects and browsers in use."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from atom.accounts.models import Project, Session, User
from atom.core import clock
from atom.core.health_checks import Gauge

# A session is noted once a minute at most.
_HERE = timedelta(minutes=5)


def gauges() -> Iterator[Gauge]:
    """Yield people, projects and browsers in use."""
    active = User.objects.filter(is_active=True)
    yield Gauge("atom_users", "Accounts that may sign in or act.", active.count())
    yield Gauge("atom_projects", "Projects.", Project.objects.count())
    here = Session.objects.filter(last_seen_at__gte=clock.now() - _HERE)
    yield Gauge("atom_browsers_in_use", "Sessions seen within five minutes.", here.count())
