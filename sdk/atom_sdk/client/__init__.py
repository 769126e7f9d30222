"""The client of an Atom server: `Client().datasets`, `.operations`, `.runs`, `.models`."""

from __future__ import annotations

from typing import Any, Self

from atom_sdk.client import config
from atom_sdk.client.archives.archives import Archives
from atom_sdk.client.cleaning import Cleaning
from atom_sdk.client.clusters import Clusters
from atom_sdk.client.datasets import Datasets
from atom_sdk.client.errors import ApiError, ClientError, NetworkError, NotConfiguredError
from atom_sdk.client.labels import Labels
from atom_sdk.client.labelx import LabelX
from atom_sdk.client.machines import Machines
from atom_sdk.client.models import Models
from atom_sdk.client.operations import Operations
from atom_sdk.client.projects import Projects
from atom_sdk.client.retention import Retention
from atom_sdk.client.runs import Runs, Workflows
from atom_sdk.client.sources import Sources
from atom_sdk.client.stores import Stores
from atom_sdk.client.transport.http import Http
from atom_sdk.client.views import Views

__all__ = ["ApiError", "Client", "ClientError", "NetworkError", "NotConfiguredError"]


class Client:
    """One server and one project.

    Without arguments it uses `ATOM_URL`, `ATOM_TOKEN`, `ATOM_PROJECT`, or what `atom login`
    wrote. Raises NotConfiguredError when there is none of them.
    """

    def __init__(
        self, url: str | None = None, token: str | None = None, project: str | None = None
    ) -> None:
        self.config = config.load(url, token, project)
        self.http = Http(self.config)
        self._project = self.config.project

    @property
    def project(self) -> str:
        """Return the project's slug: the configured one, or the only one that the token sees."""
        if not self._project:
            found = [row["slug"] for row in self.http.pages("projects/")]
            if len(found) != 1:
                raise NotConfiguredError(_choose_project(found))
            self._project = found[0]
        return self._project

    @property
    def projects(self) -> Projects:
        """The projects of the installation."""
        return Projects(self.http)

    @property
    def datasets(self) -> Datasets:
        """Versioned datasets."""
        return Datasets(self.http, self.project)

    @property
    def retention(self) -> Retention:
        """Retention and legal holds of datasets."""
        return Retention(self.datasets, self.http)

    @property
    def archives(self) -> Archives:
        """Datasets with their history, saved into folders and loaded from them."""
        return Archives(self)

    @property
    def operations(self) -> Operations:
        """Branches, merges and edits of datasets."""
        return Operations(self.http, self.datasets)

    @property
    def views(self) -> Views:
        """Saved views of datasets."""
        return Views(self.http, self.datasets)

    @property
    def cleaning(self) -> Cleaning:
        """Cleaning reports of datasets."""
        return Cleaning(self.http, self.datasets, self.operations)

    @property
    def clusters(self) -> Clusters:
        """Clusters of the installation; no project is needed."""
        return Clusters(self.http)

    @property
    def machines(self) -> Machines:
        """Machines of the installation; no project is needed."""
        return Machines(self.http)

    @property
    def runs(self) -> Runs:
        """Runs."""
        return Runs(self.http, self.project)

    @property
    def workflows(self) -> Workflows:
        """Predefined jobs."""
        return Workflows(self.http, self.project)

    @property
    def models(self) -> Models:
        """The model registry."""
        return Models(self.http, self.project)

    @property
    def sources(self) -> Sources:
        """Places that data is registered from."""
        return Sources(self.http, self.project)

    @property
    def stores(self) -> Stores:
        """Second stores of the installation; no project is needed."""
        return Stores(self.http)

    @property
    def labels(self) -> Labels:
        """Labels of dataset versions, for other tools."""
        return Labels(self.http, self.project, self.datasets)

    @property
    def labelx(self) -> LabelX:
        """Label tasks."""
        return LabelX(self.http, self.project)

    def me(self) -> dict[str, Any]:
        """Return who the token belongs to."""
        found: dict[str, Any] = self.http.get("users/me/")
        return found

    def close(self) -> None:
        """Close the connections."""
        self.http.close()

    def __enter__(self) -> Self:
        """Return the client itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connections."""
        self.close()


def _choose_project(slugs: list[str]) -> str:
    if not slugs:
        return "You see no project yet; add one with: atom project add NAME"
    return f"Choose a project with ATOM_PROJECT; you see: {', '.join(slugs)}."
