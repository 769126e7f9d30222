"""The one clock: the database's. Web servers, workers and gateways may disagree about the time.

PostgreSQL gives the time that one machine writes and another compares (leases, heartbeats,
deadlines, expiry, the times of rows): `now()` in Python, `django.db.models.functions.Now()` in a
query.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import connection, models
from django.db.models.functions import Now


def now() -> datetime:
    """Return the time by the database's clock (aware UTC); it goes on inside a transaction."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        found: datetime = cursor.fetchone()[0]
    return found


class RowTimeField(models.DateTimeField):  # type: ignore[type-arg]
    """`auto_now` and `auto_now_add` by the database's clock; the column is as ever.

    Thousands of rows that are added together are best given their time, by `now()`: PostgreSQL
    takes literal values as arrays, and expressions row by row.
    """

    # An insert returns the value that the database wrote.
    db_returning = True

    def pre_save(self, model_instance: models.Model, add: bool) -> Any:  # Django's
        """Return what to write."""
        if add:
            return getattr(model_instance, self.attname) or Now()
        if not self.auto_now:
            return super().pre_save(model_instance, add)
        # An update returns nothing, and the instance must not show an older time.
        written = now()
        setattr(model_instance, self.attname, written)
        return written

    def deconstruct(self) -> Any:
        """Describe the column to migrations, which know no clock."""
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.DateTimeField", args, kwargs
