"""The base of all views of a dataset."""

from __future__ import annotations

from typing import Any

from django.utils.functional import cached_property

from atom.accounts.api.mixins import ProjectScopedView
from atom.datasets.catalog.reads import find_dataset
from atom.datasets.models import Dataset, Version, resolve_ref


class DatasetScopedView(ProjectScopedView):
    """A view under `projects/<p>/datasets/<d>/`; `self.dataset`, and `self.version` with a ref."""

    kwargs: dict[str, Any]

    @cached_property
    def dataset(self) -> Dataset:
        """Return the dataset of the path. Raises NotFound or DatasetDeleted."""
        return find_dataset(self.project, self.kwargs["dataset"])

    @cached_property
    def version(self) -> Version:
        """Return the version that the path's ref names. Raises RefNotFound or RefAmbiguous."""
        version = resolve_ref(self.dataset, self.kwargs["ref"])
        version.dataset = self.dataset
        return version
