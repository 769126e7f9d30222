"""Failures of garbage collection and of rebuilding the catalogue, one class each."""

from atom.core.errors import AtomError, Conflict


class GarbageRefused(AtomError):
    """Base of what keeps a garbage collection from going on; nothing was deleted."""

    status = 409


class ClocksDiffer(GarbageRefused):
    """The store's clock and the database's are too far apart to compute the age of an object."""

    code = "clocks_differ"
    title = "The clocks of the object store and of the database differ too much."
    action = "Set the clocks of both machines (NTP), then collect garbage again."


class ManifestUnreadable(GarbageRefused):
    """The objects that a version needs cannot be listed, so nothing can be called garbage."""

    code = "manifest_unreadable"
    title = "A version's manifest cannot be read, so nothing was collected."
    action = "Repair or push again the dataset that the object belongs to, then collect again."


class GarbageTimedOut(GarbageRefused):
    """The project is too large for a worker's time limit."""

    code = "garbage_timed_out"
    title = "The garbage of this project could not be collected in half an hour."
    action = "Run manage.py collect_garbage --project PROJECT on the server: it has no time limit."


class GarbageRunPresent(Conflict):
    """The project's garbage is being collected already."""

    code = "garbage_run_present"
    title = "Garbage of this project is being collected already."
    action = "Wait for the present run to end."


class PardonTooLate(Conflict):
    """The objects that the run condemned are deleted, or were kept anyway."""

    code = "pardon_too_late"
    title = "There is nothing left to undo in this run."
    action = "Objects can be taken back only until they are deleted; push the files again."


class CatalogueNotEmpty(Conflict):
    """A rebuilt catalogue is put in place only where there is none."""

    code = "catalogue_not_empty"
    title = "The project has datasets: a rebuilt catalogue does not replace them."
    action = "Compare first: manage.py rebuild_catalogue --project PROJECT"
