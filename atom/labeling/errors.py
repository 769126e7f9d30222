"""One class per way in which labeling can be refused."""

from atom.core.errors import AlreadyExists, Conflict, Invalid, PermissionDenied, TooLarge


class StaleLease(Conflict):
    """The lease was lost before the work arrived. The work is stored, but does not count."""

    code = "stale_lease"
    title = "You no longer hold this item."
    action = "Lease new work; what you sent is kept in the item's history."


class LeaseElsewhere(StaleLease):
    """The same person has taken the item up again, or finished it, under another lease."""

    code = "lease_elsewhere"
    title = "This item is open in another window of yours."
    action = "Go on there; what you sent here is kept in the item's history."


class SubmissionKeyReused(Conflict):
    """An idempotency key came back with another slot, person or document."""

    code = "idempotency_key_reused"
    title = "This idempotency key was already used for a different submission."
    action = "Send a new key with every new submission."


class UnknownLabel(Invalid):
    """A label that the task's ontology does not have."""

    code = "unknown_label"
    title = "That label is not in the task's ontology."
    action = "Choose one of the task's labels."


class DocumentTooLarge(Invalid):
    """A draft or submission over the limit."""

    code = "document_too_large"
    title = "The annotation is too large."
    action = "Split the work, or simplify the shapes."


class InvalidLabels(Invalid):
    """An ontology whose labels, attributes or relations break a rule."""

    code = "invalid_labels"
    title = "The labels are not valid."
    action = "Correct what the errors name, then send it again."


class OntologyNameTaken(AlreadyExists):
    """The project has an ontology of this name."""

    code = "ontology_name_taken"
    title = "The project already has an ontology with that name."
    action = "Choose another name, or add a version to the existing ontology."


class OntologyLocked(Conflict):
    """A version in use cannot change."""

    code = "ontology_locked"
    title = "This ontology version is in use and can no longer change."
    action = "Create a new version of the ontology."


class TaskNameTaken(AlreadyExists):
    """The project has a label task of this name."""

    code = "task_name_taken"
    title = "The project already has a label task with that name."


class NoItems(Invalid):
    """The filter leaves nothing to label."""

    code = "no_items"
    title = "No file of this version matches the filter."
    action = "Widen the filter, or choose another version."


class NoImages(NoItems):
    """Files match the filter, but none of them can be shown as an image."""

    code = "no_images"
    title = "No file that matches the filter is an image that can be shown."
    action = "Widen the filter, or choose a version with images such as PNG, JPEG or WebP."


class TooManyItems(Invalid):
    """The filter leaves more than one task holds."""

    code = "too_many_items"
    title = "The filter selects too many files for one label task."
    action = "Narrow the filter, and make a task for each part."


class TaskFilling(Conflict):
    """A worker still makes the task's items."""

    code = "task_filling"
    title = "The task does not have all of its items yet."
    action = "Wait until all are there; the task's page shows how many are."


class TaskNotActive(Conflict):
    """The task hands out no work in its present state."""

    code = "task_not_active"
    title = "This task hands out no work at present."
    action = "Start the task, or choose another one."


class AuditorIsLabeler(PermissionDenied):
    """An auditor may not audit their own labels."""

    code = "auditor_is_labeler"
    title = "You labeled these items, so another person must audit them."
    action = "Ask a colleague to open the audit."


class DecidedTwice(Invalid):
    """Two verdicts on one item in one request: either could be meant."""

    code = "decided_twice"
    title = "The request has two verdicts on one item."
    action = "Send one verdict for each item; none of these were taken."


class UnfinishedItems(Conflict):
    """Publishing would leave items without an accepted label."""

    code = "unfinished_items"
    title = "Some items are not finished."
    action = "Finish them, or publish what is accepted with partial: true."


class NothingToPublish(Conflict):
    """No item has an accepted label."""

    code = "nothing_to_publish"
    title = "No item has an accepted label yet."
    action = "Label and audit some items first."


class NothingLeftOut(Conflict):
    """A published task has every item in its version."""

    code = "nothing_left_out"
    title = "No item of this task was left out."
    action = "Make a new task for other files."


class TaskNotPublished(Conflict):
    """Only a published task has items that a publication left out."""

    code = "task_not_published"
    title = "This task is not published."
    action = "Publish it first, or go on labeling in it."


class InvalidAnnotation(Invalid):
    """A document of objects that breaks a rule; `places` says where in the picture."""

    status = 422
    code = "invalid_annotation"
    title = "The annotation has mistakes."
    action = "Correct what the errors name, then submit again; your draft is kept."


class DraftBaseUnknown(Conflict):
    """A patch on a draft that the server does not have."""

    code = "draft_base_unknown"
    title = "The draft that this patch changes is not kept here."
    action = "Send the whole document."


class PictureReplaced(Conflict):
    """The item has other bytes by now than the picture that was labeled."""

    code = "picture_replaced"
    title = "This picture was replaced since you opened it."
    action = "Look at the new picture; what you sent is kept in the item's history."


class NotAssigned(PermissionDenied):
    """The task's work is for other people."""

    code = "not_assigned"
    title = "This task is assigned to other people."
    action = "Ask whoever made the task to assign it to you."


class NothingHeld(Conflict):
    """There is no lease to take away."""

    code = "nothing_held"
    title = "This item is not held now."
    action = "Reload the page."


class LabelsInUse(Conflict):
    """A newer ontology version lacks what the task's work uses, or refuses its answers."""

    code = "labels_in_use"
    title = "The new version does not allow work that this task has."
    action = "Allow it in the new version, or correct that work first."


class OntologyNotNewer(Conflict):
    """A task goes on only with a newer version of its own ontology."""

    code = "ontology_not_newer"
    title = "The task can only move to a newer version of its own ontology."
    action = "Add a version to the task's ontology, and move the task there."


class LabelsUnreadable(Invalid):
    """An uploaded source of labels that cannot be read, with the reader's own words."""

    code = "labels_unreadable"
    title = "The labels cannot be read."
    action = "Mend the file that is named, or choose another format, and import again."


class LabelsTooLarge(Invalid):
    """A source of labels over the limit."""

    code = "labels_too_large"
    title = "The file of labels is too large."
    action = "Split it, or import it from the command line, which sends less."


class LabelsPresent(Conflict):
    """An import that was to refuse pictures with labels, and meets some."""

    code = "labels_present"
    title = "Some of these pictures have objects already."
    action = "Replace them, or add to them."


class UploadNotReady(Conflict):
    """An import of an upload that did not arrive, is refused or is gone."""

    code = "labels_not_uploaded"
    title = "The file of labels is not there."
    action = "Upload the file again."


class NothingToExport(Invalid):
    """An export of labels where there are none."""

    code = "no_labels_to_export"
    title = "There are no labels to export."
    action = "Choose a version with objects, or a wider query."


class TransferNotWaiting(Conflict):
    """A transfer that was confirmed or cancelled in a state that does not allow it."""

    code = "transfer_not_waiting"
    title = "That is not possible in its present state."
    action = "Reload to see its state."


class ResultGone(Conflict):
    """The archive of an export that is not made yet, or has expired."""

    code = "export_not_there"
    title = "There is no archive to download."
    action = "Wait until the export is done, or export again."


class TransferAbandoned(Conflict):
    """A transfer that ended each worker that began it."""

    code = "transfer_abandoned"
    title = "No worker could finish it, in several attempts."
    action = "Split the file, or tell an administrator."


class GuidelinePictureTooLarge(TooLarge):
    """A picture for a guideline with more bytes or pixels than are taken."""

    code = "guideline_picture_too_large"
    title = "The picture is too large for a guideline."
    action = "Make it smaller: at most 10 MB and 50 megapixels. Then add it again."


class GuidelinePictureUnreadable(Invalid):
    """A file for a guideline that is no whole picture of a known format."""

    code = "guideline_picture_unreadable"
    title = "This file cannot be shown in a guideline."
    action = "Add a whole PNG, JPEG, WebP or GIF picture."


class GuidelinePicturesFull(Conflict):
    """The project has as many guideline pictures as it may."""

    code = "guideline_pictures_full"
    title = "The project has no room for another guideline picture."
    action = "Delete guideline pictures that no guideline names, then add this one again."


class GuidelinePictureInUse(Conflict):
    """A guideline names the picture that was to be deleted."""

    code = "guideline_picture_in_use"
    title = "A guideline shows this picture."
    action = "Keep it: labelers of that guideline need it."
