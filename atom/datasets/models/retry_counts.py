"""The base of work that a worker retries a bounded number of times."""

from __future__ import annotations

from datetime import timedelta

from django.db import models

from atom.core import clock
from atom.core.models import TimestampedModel

_MOST_TRIES = 5
# One bad moment of a store or of a machine is over by then.
_AT_LEAST = timedelta(hours=2)


class RetriedModel(TimestampedModel):
    """Counts the tries that came to no end: a worker that died, or a failure nobody foresaw.

    Age alone says nothing: the machine may have been down, or the queue long.
    """

    tries = models.PositiveIntegerField(default=0)
    tried_since = models.DateTimeField(null=True)

    class Meta:
        abstract = True

    @property
    def is_hopeless(self) -> bool:
        """Return whether it was tried so often, and for so long, that it is given up."""
        if self.tries < _MOST_TRIES or self.tried_since is None:
            return False
        return clock.now() - self.tried_since >= _AT_LEAST
