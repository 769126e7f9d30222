"""Comments on a run: authors write, change and remove them, and open pages are notified."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from atom.accounts import audit
from atom.accounts.models import RoleBinding, User
from atom.core import clock, live, outbox
from atom.core.errors import NotFound
from atom.jobs.errors import NotYourComment
from atom.jobs.models import Run, RunComment
from atom.jobs.runs.engines.mentions import MAX_MENTIONS, named_in


@transaction.atomic
def add_comment(run: Run, author: User, text: str) -> RunComment:
    """Add a comment; members whom it names with an @ are kept beside it."""
    made = RunComment.objects.create(run=run, author=author, text=text)
    named = _mentioned(run, text)
    made.mentioned.set(named)
    audit.record(author, "run.commented", run, run.project, comment=str(made.pk))
    _notify_mentioned(run, made, author, named)
    _notify(run)
    return made


@transaction.atomic
def edit_comment(run: Run, comment_id: UUID, author: User, text: str) -> RunComment:
    """Replace the text of one's own comment. Raises NotFound, NotYourComment."""
    comment = _own(run, comment_id, author)
    if comment.text == text:
        return comment
    comment.text, comment.edited_at = text, clock.now()
    comment.save(update_fields=["text", "edited_at", "updated_at"])
    before = set(comment.mentioned.values_list("pk", flat=True))
    named = _mentioned(run, text)
    comment.mentioned.set(named)
    _notify_mentioned(run, comment, author, [one for one in named if one.pk not in before])
    audit.record(author, "run.comment_edited", run, run.project, comment=str(comment.pk))
    _notify(run)
    return comment


@transaction.atomic
def remove_comment(run: Run, comment_id: UUID, author: User) -> None:
    """Remove one's own comment. Raises NotFound, NotYourComment."""
    comment = _own(run, comment_id, author)
    audit.record(author, "run.comment_removed", run, run.project, comment=str(comment.pk))
    comment.delete()
    _notify(run)


def _own(run: Run, comment_id: UUID, author: User) -> RunComment:
    # Lock first: an edit and a removal at once.
    rows = RunComment.objects.select_for_update(of=("self",))
    comment = rows.filter(run=run, pk=comment_id).first()
    if comment is None:
        raise NotFound
    if comment.author_id != author.pk:
        raise NotYourComment
    return comment


def _mentioned(run: Run, text: str) -> list[User]:
    """Return the members of the run's project whom the text names; others stay words."""
    names = named_in(text)
    if not names:
        return []
    bindings = RoleBinding.objects.filter(
        Q(project=run.project) | Q(unit__in=run.project.unit.lineage_ids)
    )
    members = Q(pk__in=bindings.values("user")) | Q(is_superuser=True)
    found = User.objects.filter(members, username__in=names, is_active=True)
    return list(found.order_by("username")[:MAX_MENTIONS])


def _notify_mentioned(run: Run, comment: RunComment, author: User, named: Iterable[User]) -> None:
    others = [one.pk for one in named if one.pk != author.pk]
    if not others:
        return
    outbox.emit(
        run.project_id,
        "run.mentioned",
        people=others,
        subject=run.pk,
        run=str(run.pk),
        number=run.number,
        name=run.name,
        comment=str(comment.pk),
        author=author.get_full_name(),
    )


def _notify(run: Run) -> None:
    # The run's own socket is open while it runs, the project's always.
    live.publish(f"run.{run.pk}", {"type": "comment", "id": str(run.pk)})
    live.publish(f"project.{run.project_id}", {"type": "comment", "id": str(run.pk)})
