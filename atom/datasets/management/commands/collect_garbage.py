"""`manage.py collect_garbage`: what nobody needs in the bucket, and its deletion."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from atom.accounts.models import Project
from atom.datasets.models import GarbageRun
from atom.datasets.retention.actions.garbage import add_garbage_run, collect_garbage
from atom.datasets.retention.errors import GarbageRunPresent
from atom_sdk.amounts import counted

_MIB = 1 << 20


class Command(BaseCommand):
    """Without --apply nothing changes."""

    help = "Report what nobody needs; with --apply condemn it, and delete what is due."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("--project", help="The slug of one project; all without it.")
        parser.add_argument("--apply", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        """Look through the projects, one after the other."""
        projects = Project.objects.order_by("slug")
        if options["project"]:
            projects = projects.filter(slug=options["project"])
            if not projects:
                raise CommandError(f"There is no project {options['project']}.")
        failed = [
            project.slug for project in projects if not self._collect(project, options["apply"])
        ]
        if failed:
            raise CommandError(f"Nothing was collected in {', '.join(failed)}.")

    def _collect(self, project: Project, apply: bool) -> bool:
        try:
            run = add_garbage_run(project, None, is_dry_run=not apply)
        except GarbageRunPresent as exc:
            self.stderr.write(f"{project.slug}: {exc.title} {exc.action}")
            return False
        done = collect_garbage(run.pk)
        self.stdout.write(f"{project.slug}: {_sentence(done)}")
        for example in done.examples:
            self.stdout.write(f"  {example}")
        return done.state == "done"


def _sentence(run: GarbageRun) -> str:
    if run.state == "failed":
        return f"{run.error_code}: {run.error_detail}"
    found = (
        f"garbage: {run.garbage_count} of {counted(run.examined_count, 'object')} "
        f"({run.garbage_bytes / _MIB:.1f} MiB)"
    )
    found += f", {run.staged_count} given up in staging ({run.staged_bytes / _MIB:.1f} MiB)"
    if run.repacked_count:
        done = "worth packing anew" if run.is_dry_run else "packed anew"
        sizes = f"{run.repacked_bytes / _MIB:.1f} to {run.repacked_needed_bytes / _MIB:.1f} MiB"
        found += f", {counted(run.repacked_count, 'pack')} {done} ({sizes})"
    if run.is_dry_run:
        return f"{found}; nothing was changed"
    return f"{found}; {run.condemned.count()} newly condemned, {run.deleted.count()} deleted"
