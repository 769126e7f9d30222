"""`manage.py rebuild_catalogue`: the catalogue from the bucket alone, compared to the live one."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from atom.accounts.models import Project
from atom.datasets.integrity.actions.rebuild import (
    Comparison,
    apply_catalogue,
    compare_catalogue,
    write_missing_documents,
)
from atom.datasets.retention.errors import CatalogueNotEmpty

_SHOWN = 20


class Command(BaseCommand):
    """Without an option nothing changes: it rebuilds beside the live catalogue and compares."""

    help = "Rebuild the datasets of each project from the bucket and compare; see --apply."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("--project", help="The slug of one project; all without it.")
        choice = parser.add_mutually_exclusive_group()
        choice.add_argument(
            "--apply", action="store_true", help="Put it in place where there are no datasets."
        )
        choice.add_argument(
            "--write-missing",
            action="store_true",
            help="Write to the bucket what an older version of Atom did not write there.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Work through the projects; differences end with an error."""
        projects = Project.objects.order_by("slug")
        if options["project"]:
            projects = projects.filter(slug=options["project"])
            if not projects:
                raise CommandError(f"There is no project {options['project']}.")
        differing = []
        for project in projects:
            if options["write_missing"]:
                written = write_missing_documents(project)
                self.stdout.write(f"{project.slug}: {written} documents written")
            if not self._print_differences(project, _rebuilt(project, apply=options["apply"])):
                differing.append(project.slug)
        if differing:
            raise CommandError(f"The bucket and the catalogue differ in {', '.join(differing)}.")

    def _print_differences(self, project: Project, found: Comparison) -> bool:
        counts = ", ".join(f"{count} {name}" for name, count in found.counts.items())
        self.stdout.write(f"{project.slug}: {counts}; {'equal' if found.is_equal else 'DIFFERENT'}")
        for title, lines in found.by_title():
            for line in lines[:_SHOWN]:
                self.stdout.write(f"  {title}: {line}")
            if len(lines) > _SHOWN:
                self.stdout.write(f"  … and {len(lines) - _SHOWN} more {title}")
        return found.is_equal


def _rebuilt(project: Project, *, apply: bool) -> Comparison:
    if not apply:
        return compare_catalogue(project)
    try:
        return apply_catalogue(project)
    except CatalogueNotEmpty as exc:
        raise CommandError(f"{project.slug}: {exc.title} {exc.action}") from exc
