"""Symbolic links of a push: the rows of new ones, and the notes about them."""

from __future__ import annotations

from collections.abc import Mapping

from atom_sdk.amounts import counted, first_named
from atom_sdk.client.progress import Progress
from atom_sdk.client.push.attribute_changes import Attributes
from atom_sdk.client.push.scan import Parent
from atom_sdk.manifests.links import leads_of, link_digest

_NAMED = 3


def changed_links(
    links: Mapping[str, str], parent: Parent, attributes: Attributes
) -> dict[str, str]:
    """Return the links that the parent lacks, has otherwise, or with other attributes."""
    return {
        path: target
        for path, target in links.items()
        if parent.digests.get(path) != link_digest(target)
        or (path in attributes and attributes[path] != parent.attributes.get(path))
    }


def note_links(links: Mapping[str, str], progress: Progress, *, labels_folders: bool) -> None:
    """Say which links a pull will not create, and that none has a label of its own."""
    if not links:
        return
    leaving = [path for path, lead in leads_of(links).items() if lead.leaves]
    if leaving:
        leads = "leads" if len(leaving) == 1 else "lead"
        names = first_named(list(map(repr, leaving)), _NAMED)
        progress.note(
            f"{counted(len(leaving), 'link')} {leads} out of the folder ({names}): a pull creates "
            "such links only with --unsafe-links. To copy their files, push with --follow-links."
        )
    if labels_folders:
        progress.note(
            f"{counted(len(links), 'link')} kept as links: each has the label of the file that it "
            "leads to. To label them by their own folders, push with --follow-links."
        )
