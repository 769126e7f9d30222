"""Failures of bringing bytes to nodes."""

from atom.core.errors import Conflict, Invalid, NotAuthenticated, NotFound, Unavailable


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


class AgentNotAccepted(NotAuthenticated):
    """The cluster does not confirm an agent, or its token is over."""

    code = "agent_not_accepted"
    title = "This node agent is not accepted."
    action = "Let the agent join again with the token of its own pod."


class ClusterAway(Unavailable):
    """The cluster of an agent cannot be asked now."""

    code = "cluster_away"
    title = "The cluster does not confirm the agent now."
    action = "Join again in a few seconds."


class AgentsMissing(Conflict):
    """Too few nodes have an agent that reports."""

    code = "agents_missing"
    title = "Some nodes have no agent that reports."
    action = "Install the node agent in the cluster, or choose other nodes."


class CacheTooSmall(Conflict):
    """The version does not fit on a node's disk."""

    code = "cache_too_small"
    title = "The version does not fit on a node."
    action = "Evict other versions there, choose other nodes, or enlarge the cache."


class WarmPlanUnsuitable(Conflict):
    """Agents cannot fetch the version's objects at a source."""

    code = "warm_plan_unsuitable"
    title = "Node agents cannot warm this version."
    action = "Copy its objects into the dataset first, then warm the new version."


class WarmPlanNotFound(NotFound):
    """The project has no such plan."""

    code = "warm_plan_not_found"
    title = "There is no such warm-up plan."
    action = "List the project's warm-up plans."


class WarmScheduleNotFound(NotFound):
    """The project has no such schedule."""

    code = "warm_schedule_not_found"
    title = "There is no such schedule of warm-ups."
    action = "List the project's schedules of warm-ups."


class AgentImageUnset(Conflict):
    """No image of node agents is set."""

    code = "agent_image_unset"
    title = "No image of node agents is set."
    action = "Build an image that has the node agent, and set ATOM_AGENT_IMAGE to its name."


class VolumeUnknown(NotFound):
    """The node has no such volume."""

    code = "volume_unknown"
    title = "The node has no such volume."
    action = "Open the volume first."
