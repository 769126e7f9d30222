"""Views of one thing under `labelx/`: found only inside the caller's projects."""

from __future__ import annotations

from typing import Any, ClassVar

from django.utils.functional import cached_property
from rest_framework.exceptions import ErrorDetail
from rest_framework.request import Request
from rest_framework.views import APIView

from atom.accounts.api.mixins import SAFE, authorize, user_of
from atom.accounts.models import Project, User
from atom.core.errors import Invalid, NotFound
from atom.core.sentences import positive_number_to
from atom.datasets.catalog.reads import find_dataset
from atom.datasets.models import Version
from atom.datasets.refs import resolve_ref
from atom.labeling.models import LabelTask, WorkItem, WorkSlot

MAX_LEASE = 200


class LabelXView(APIView):
    """Authorizes for the project of what the path names; strangers get 404.

    Reads need `viewer`, writes `required_role`.
    """

    required_role: ClassVar[str] = "labeler"

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Authenticate, find, authorize."""
        super().initial(request, *args, **kwargs)
        role = "viewer" if request.method in SAFE else self.required_role
        authorize(request, self.find_project(), role)

    def find_project(self) -> Project:
        """Return the project of the thing in the path. Raises NotFound."""
        raise NotImplementedError

    @property
    def user(self) -> User:
        """The caller."""
        return user_of(self.request)


class TaskView(LabelXView):
    """Below `labelx/tasks/<id>/`."""

    @cached_property
    def task(self) -> LabelTask:
        """The task of the path."""
        visible = LabelTask.objects.visible_to(self.user).for_display()
        task = visible.filter(pk=self.kwargs["task_id"]).first()
        if task is None:
            raise NotFound
        return task

    def find_project(self) -> Project:
        """Return the task's project."""
        return self.task.project


class SlotView(LabelXView):
    """Below `labelx/slots/<id>/`."""

    @cached_property
    def slot(self) -> WorkSlot:
        """The slot of the path."""
        visible = WorkSlot.objects.filter(
            label_task__project__in=Project.objects.visible_to(self.user)
        ).select_related("label_task__project__unit", "work_item")
        slot = visible.filter(pk=self.kwargs["slot_id"]).first()
        if slot is None:
            raise NotFound
        return slot

    def find_project(self) -> Project:
        """Return the slot's project."""
        return self.slot.label_task.project


class ItemView(LabelXView):
    """Below `labelx/items/<id>/`."""

    @cached_property
    def item(self) -> WorkItem:
        """The item of the path."""
        visible = WorkItem.objects.filter(
            label_task__project__in=Project.objects.visible_to(self.user)
        ).select_related("label_task__project__unit")
        item = visible.filter(pk=self.kwargs["item_id"]).first()
        if item is None:
            raise NotFound
        return item

    def find_project(self) -> Project:
        """Return the item's project."""
        return self.item.label_task.project


def lease_size(request: Request, default: int) -> int:
    """Return the `n` parameter. Raises Invalid unless it is in 1..200."""
    text = request.query_params.get("n", str(default))
    if not text.isdecimal() or len(text) > 9 or not 1 <= int(text) <= MAX_LEASE:
        raise Invalid(errors={"n": [positive_number_to(MAX_LEASE)]})
    return int(text)


def version_named(project: Project, text: str) -> Version:
    """Return the version that `name@ref` means. Raises Invalid."""
    name, _, ref = text.partition("@")
    try:
        return resolve_ref(find_dataset(project, name), ref or "main")
    except NotFound as exc:
        raise Invalid(errors={"dataset": [ErrorDetail(exc.detail, code="does_not_exist")]}) from exc
