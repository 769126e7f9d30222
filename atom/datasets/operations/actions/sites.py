"""The branch that an operation works on."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from atom.datasets.catalog.reads import require_kept
from atom.datasets.catalog.stores import VersionStore
from atom.datasets.errors import RefNotFound
from atom.datasets.models import Dataset, Version
from atom.datasets.operations.engines.operations import Source
from atom.datasets.packs.corrupt_packs import root_to_build_on
from atom_sdk.manifests.merge.merge import EMPTY_ROOT
from atom_sdk.manifests.objects import ObjectStore
from atom_sdk.manifests.progress import UNWATCHED, Watch
from atom_sdk.manifests.roots.roots import Root
from atom_sdk.sentences import Sentence


@dataclass(frozen=True)
class Site:
    """The branch that an operation works on; `objects` takes what is written."""

    dataset: Dataset
    branch: str
    head: Version
    versions: VersionStore
    objects: ObjectStore
    watch: Watch = UNWATCHED

    @property
    def root(self) -> Root:
        """Return the root of the head."""
        return self.root_in(self.head)

    def root_in(self, version: Version) -> Root:
        """Return the root from which entries of a version are taken."""
        return self.versions.root(root_to_build_on(version))

    def version(self, source: Source) -> Version:
        """Return a version of this or another dataset of the project.

        Raises RefNotFound or VersionExpired.
        """
        home = UUID(source.dataset) if source.dataset else self.dataset.pk
        # Packs are a project's: a version of another one could not be read.
        versions = Version.objects.filter(dataset__project=self.dataset.project_id)
        found = versions.filter(dataset=home, commit=source.commit).first()
        if found is None:
            raise RefNotFound(
                Sentence(
                    "datasets.version_gone", "The version {version} is gone.", version=source.ref
                )
            )
        require_kept(found)
        return found

    def root_of(self, commit: str | None) -> Root:
        """Return the root of a commit of this dataset; without a commit, one of no files."""
        found = self.dataset.versions.filter(commit=commit).first() if commit else None
        if found is None:
            return EMPTY_ROOT
        require_kept(found)
        return self.root_in(found)
