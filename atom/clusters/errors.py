"""Failures of requests about machines."""

from atom.core.errors import NotFound


class MachineNotFound(NotFound):
    """No machine has this id."""

    code = "machine_not_found"
    title = "There is no such machine."
    action = "Look at the list of machines; one that was removed has no page any more."
