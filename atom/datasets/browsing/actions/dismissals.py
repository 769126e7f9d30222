"""Taking operations out of the list that a person sees; nothing else knows of it."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from django.db import transaction

from atom.accounts.models import User
from atom.core import outbox
from atom.core.errors import NotFound
from atom.datasets.catalog.reads import is_operation, operations_of_now, runs
from atom.datasets.models import CommitRequest, Dataset, DismissedOperation
from atom_sdk.sentences import Sentence


def dismiss_operation(dataset: Dataset, request_id: UUID, user: User) -> None:
    """Tell this person no more how an operation ended; one that runs is shown until it is over.

    Repeatable. Raises NotFound.
    """
    asked = CommitRequest.objects.filter(is_operation(), dataset=dataset, pk=request_id).first()
    if asked is None:
        raise NotFound(
            Sentence(
                "datasets.operation_unknown",
                "{dataset} has no such operation.",
                dataset=dataset.name,
            )
        )
    _dismiss([asked], user)


def dismiss_ended_operations(dataset: Dataset, user: User) -> None:
    """Tell this person no more of any operation that is over by now. Repeatable."""
    _dismiss(operations_of_now(dataset, user).exclude(runs()), user)


def _dismiss(operations: Iterable[CommitRequest], user: User) -> None:
    dismissed = list(operations)
    rows = [DismissedOperation(request=one, user=user) for one in dismissed]
    with transaction.atomic():
        DismissedOperation.objects.bulk_create(rows, ignore_conflicts=True)
        for one in dismissed:
            project_id = one.dataset.project_id
            outbox.emit(project_id, "commit.dismissed", subject=one.pk, user=str(user.pk))
