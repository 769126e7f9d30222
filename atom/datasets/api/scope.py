"""What every view of a dataset shares."""

from __future__ import annotations

from typing import Any

from django.utils.functional import cached_property

from atom.accounts.api.mixins import ProjectScopedView
from atom.core.errors import NotFound
from atom.datasets.models import Dataset, Version, resolve_ref


class DatasetScopedView(ProjectScopedView):
    """A view under `projects/<p>/datasets/<d>/`; `self.dataset`, and `self.version` with a ref."""

    kwargs: dict[str, Any]

    @cached_property
    def dataset(self) -> Dataset:
        """Return the dataset of the path. Raises NotFound."""
        found = Dataset.objects.in_project(self.project).filter(name=self.kwargs["dataset"]).first()
        if found is None:
            raise NotFound(f"{self.project.slug} has no dataset {self.kwargs['dataset']}.")
        return found

    @cached_property
    def version(self) -> Version:
        """Return the version that the path's ref names. Raises RefNotFound or RefAmbiguous."""
        version = resolve_ref(self.dataset, self.kwargs["ref"])
        version.dataset = self.dataset
        return version
