"""Reasons why an image was not read or pushed: a code of a failure, and its parameters."""

from __future__ import annotations

# Longest text of a registry that a failure repeats, in characters.
MAX_SAID = 300


class RegistryError(Exception):
    """An image that cannot be had or kept; `code` and `params` are those of a failure."""

    code = "registry_refused"

    def __init__(self, **params: str) -> None:
        """Keep the parameters of the sentence."""
        super().__init__(self.code, params)
        self.params = params


class RegistryAway(RegistryError):
    """The registry does not answer, or is not well: ask again later. Params: registry, said."""

    code = "registry_away"


class RegistryRefused(RegistryError):
    """The registry refused a request, or answered with nonsense. Params: registry, said."""


class RegistryDenied(RegistryError):
    """The registry did not take the credentials. Params: registry, repository, said."""

    code = "registry_denied"


class RegistryFull(RegistryError):
    """A quota of the registry is used up. Params: registry, repository, said."""

    code = "registry_full"


class RegistryForbidden(RegistryError):
    """The registry is in a network that no setting opens. Params: registry, said."""

    code = "registry_not_public"


class BaseDenied(RegistryError):
    """The base image may not be read, or is not there: registries do not tell. Params: image."""

    code = "base_image_denied"


class BaseMissing(RegistryError):
    """The base image is not there. Params: image."""

    code = "base_image_missing"


class BaseUnfit(RegistryError):
    """The base image has no version for the nodes, or an old form. Params: image, machine."""

    code = "base_image_unfit"
