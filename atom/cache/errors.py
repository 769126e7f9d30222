"""Failures of bringing bytes to nodes."""

from atom.core.errors import Conflict, Invalid, NotFound


class VersionPinned(Conflict):
    """Somebody needs the version on the node."""

    code = "version_pinned"
    title = "This version is needed and cannot be evicted."
    action = "Wait until the runs and label tasks that use it are finished."


class NodeUnknown(NotFound):
    """No node has this name or id."""

    code = "node_unknown"
    title = "There is no such node."
    action = "List the clusters to see their nodes."


class NodeOutOfReach(Conflict):
    """Nothing brings versions to this node."""

    code = "node_out_of_reach"
    title = "Atom cannot reach the cache of this node."
    action = "Choose a node that Atom reaches, such as the machine that it runs on."


class ViewNotReady(Conflict):
    """The version is not warm on the node yet."""

    code = "view_not_ready"
    title = "The version is not warm on this node."
    action = "Warm the version and wait until it is warm."


class SelectionEmpty(Invalid):
    """No sample of the version fits the selector."""

    code = "selection_empty"
    title = "No sample of the version is selected."
    action = "Look at the version's splits and labels, and select one that has samples."

    def __init__(self, detail: str | None = None, *, dataset: str = "", split: str = "") -> None:
        """`split` is empty where a query or labels, too, left no sample."""
        super().__init__(detail, dataset=dataset, split=split)
        self.selected = {"dataset": dataset, "split": split}
