"""Failures of the data plane, one class each."""

from atom.core.errors import AlreadyExists, AtomError, Conflict, Invalid, NotFound


class DatasetNameTaken(AlreadyExists):
    """Another dataset of the project has this name."""

    code = "dataset_name_taken"
    title = "The project already has a dataset of that name."


class DatasetDeleted(NotFound):
    """The dataset was deleted, and can be restored for a while."""

    status = 410
    code = "dataset_deleted"
    title = "The dataset is deleted."
    action = (
        "An administrator can take it back until it is collected; the portal lists it under "
        "Deleted datasets."
    )


class DatasetHeld(Conflict):
    """A legal hold keeps the dataset."""

    code = "dataset_held"
    title = "A legal hold keeps the dataset: it cannot be deleted."
    action = "Release its holds first."


class DatasetInUse(Conflict):
    """Runs, label tasks or commits under way need the dataset."""

    code = "dataset_in_use"
    title = "The dataset is in use: it cannot be deleted now."
    action = "Wait until they have ended, or cancel them; then delete it again."


class DeletionUnconfirmed(Invalid):
    """The name that was typed is not that of the dataset."""

    code = "deletion_unconfirmed"
    title = "The name does not match: nothing was deleted."
    action = "Give the dataset's name as the parameter name."


class RefNameTaken(AlreadyExists):
    """A branch or tag of the dataset has this name, or it reads like a version."""

    code = "ref_name_taken"
    title = "The dataset already has a branch, tag or version of that name."


class RefNotFound(NotFound):
    """No version, branch, tag or commit of the dataset is called that."""

    code = "ref_not_found"
    title = "The dataset has no such version."
    action = "Look at the dataset's versions, branches and tags; case matters in their names."


class BranchEmpty(RefNotFound):
    """Nothing was pushed to the branch."""

    code = "branch_empty"
    title = "The branch has no version yet."
    action = "Push a folder to it, or load data into it."


class RefAmbiguous(Conflict):
    """Several commits begin with the digits."""

    code = "ref_ambiguous"
    title = "Several commits begin with these digits."
    action = "Give more digits of the commit."


class VersionCollected(Conflict):
    """The files of an expired version are deleted."""

    code = "version_collected"
    title = "The version's files are collected: it cannot be restored."
    action = "Push the files again; they become a new version."


class HoldUnknown(NotFound):
    """The dataset has no such hold."""

    code = "hold_unknown"
    title = "The dataset has no such hold."
    action = "Look at the holds of the dataset; it may be released already."


class QueryInvalid(Invalid):
    """The text of a query cannot be read; `position` is the wrong character, from 1."""

    code = "query_invalid"
    title = "The query is not valid."
    action = "Write a condition such as: label = 'cat' AND attributes.camera LIKE 'north%'"


class ViewNotFound(NotFound):
    """The dataset has no saved view of this name."""

    code = "view_not_found"
    title = "The dataset has no view of that name."
    action = "Look at the saved views of the dataset; case matters in their names."


class ViewNameTaken(AlreadyExists):
    """Another view of the dataset has this name."""

    code = "view_name_taken"
    title = "The dataset already has a view of that name."


class ViewEmpty(Invalid):
    """A view without a question would be every file."""

    code = "view_empty"
    title = "The view asks nothing."
    action = "Give it a query, a folder or a split."


class EntryNotFound(NotFound):
    """The version has no file at this path."""

    code = "entry_not_found"
    title = "The version has no file at this path."
    action = "Browse the version to see its paths."


class UploadTooLarge(Invalid):
    """Larger than one upload may be."""

    code = "upload_too_large"
    title = "The upload is too large."
    action = "Split the data into more packs."


class UploadSizeDiffers(Conflict):
    """An upload of the same digest was announced with another size."""

    code = "upload_size_differs"
    title = "This digest was announced before with another size."
    action = "Compute the digest and the size again from the file."


class UploadIncomplete(Conflict):
    """Completing was asked for, but parts are missing or differ."""

    code = "upload_incomplete"
    title = "Some parts of the upload are missing or differ from what arrived."
    action = "Read the upload, send the missing parts again, then complete it."


class UploadNotOpen(Conflict):
    """The upload no longer takes parts."""

    code = "upload_not_open"
    title = "This upload takes no more parts."
    action = "Start a new upload of the same digest; it resumes or says that nothing is missing."


# The codes of a refused upload come from the reader that looked at its bytes.
UPLOAD_REFUSED_ACTION = (
    "Push again: the bytes changed on their way. If it happens again, check the sender's disk."
)


class PackQuarantined(Conflict):
    """The version needs a pack whose stored bytes are corrupt."""

    code = "pack_quarantined"
    title = "The version needs a pack that is damaged and quarantined."
    action = "Push the folder that its files came from again; the damaged pack is replaced."


class ManifestObjectUnknown(NotFound):
    """The version's manifest has no such object."""

    code = "manifest_object_unknown"
    title = "The version's manifest has no such object."
    action = "Ask only for keys that the version's root lists."


class PackUnknown(NotFound):
    """The project has no verified pack of this digest."""

    code = "pack_unknown"
    title = "The project has no verified pack of this digest."
    action = "Ask only for packs that the version's root lists."


class CommitRefused(AtomError):
    """Base of the errors that a worker finds in a commit request; its state shows them."""

    status = 409


class VersionExpired(CommitRefused):
    """The dataset's retention let the version go; its files may be deleted."""

    status = 410
    code = "version_expired"
    title = "The version has expired: its files are no longer kept."
    action = (
        "Use a newer version; an administrator can restore this one until its files are collected."
    )


class VersionGone(VersionExpired):
    """The version expired, and garbage collection has taken its files."""

    code = "version_gone"
    title = "The version's files are collected: nobody can read it any more."
    action = "Use a newer version, or push the files again; they become a new version."


class CommitAbandoned(CommitRefused):
    """No worker could finish it."""

    code = "commit_abandoned"
    title = "No worker could finish the commit, in several tries over two hours."
    action = "Push again; if it happens again, look at the worker's log for this commit's id."


class VersionUnreadable(CommitRefused):
    """The store's objects of a version differ from the written ones, or are missing."""

    code = "version_unreadable"
    title = "A version that this builds on cannot be read from the object store."
    action = "Have an administrator look whether the bucket is whole; what is named is not."


class CommitCancelled(CommitRefused):
    """Somebody cancelled it before the branch moved."""

    code = "commit_cancelled"
    title = "The operation was cancelled: the branch is as it was."
    action = "Ask for it again if it is wanted after all; nothing is left of this one."


class CommitOver(Conflict):
    """The branch moves or has moved, or the request has ended otherwise."""

    code = "commit_over"
    title = "It is too late to cancel: the operation has ended, or is about to."
    action = "See how it ended; a version that came of it can be undone by a revert."


class CommitNotCancellable(Conflict):
    """The commit belongs to a writer, a write job or the load of an archive."""

    code = "commit_not_cancellable"
    title = "The commit of a writer, a write job or an archive is not cancelled."
    action = "Wait for its end; a version that came of it can be undone by a revert."


class ChangesUnreadable(CommitRefused):
    """The changes file is not an Arrow or Parquet table with the right columns."""

    code = "changes_unreadable"
    title = "The changes file cannot be read."
    action = "Push again with a current client."


class EmptyCommit(CommitRefused):
    """There is nothing to commit: the version would have no files."""

    code = "empty_commit"
    title = "The version would have no files."
    action = "Give a folder with at least one file."


class EntryNotInPack(CommitRefused):
    """An entry says that bytes are where the pack's own index has others."""

    code = "entry_not_in_pack"
    title = "An entry does not match the contents of its pack."
    action = "Push again; do not change files while they are being pushed."


class PackNotVerified(CommitRefused):
    """An entry refers to a pack that this project does not have."""

    code = "pack_not_verified"
    title = "An entry refers to a pack that is not verified in this project."
    action = "Upload the pack first, and wait until its upload is verified."


class HeadMoved(CommitRefused):
    """Somebody else moved the branch."""

    code = "head_moved"
    title = "The branch has moved since you last saw it."
    action = "Read the branch's new head, apply your changes to it, and commit again."


class SplitImpossible(CommitRefused):
    """The requested split does not fit the data."""

    code = "split_impossible"
    title = "The split cannot be made from this data."
    action = (
        "Ask for fewer samples in the split; a file that is in a split stays there unless all are "
        "drawn anew."
    )


class SplitEmpty(CommitRefused):
    """A split over a query or a view that no file matches."""

    code = "split_empty"
    title = "No file matches what the split is drawn over."
    action = "Browse the version with the query or the view to see what it chooses."


class SplitUnlabelled(CommitRefused):
    """A split is drawn by label, and there is no label."""

    code = "split_unlabelled"
    title = "A split is drawn from labelled files, and no file has a label."
    action = (
        "Label the files first, push them with their class folders as labels, or draw the split "
        "without regard to labels."
    )


class SplitTooLargeToShow(Invalid):
    """The version has too many files to count a split of it while somebody waits."""

    code = "split_preview_too_large"
    title = "The version is too large to count a split beforehand."
    action = "Split it without a preview; the new version shows the counts."


class SplitRedrawn(CommitRefused):
    """The request would draw a split again without saying so."""

    code = "split_redraw"
    title = "The dataset has a split already, and this would draw it anew."
    action = "Ask for all files to be drawn anew; results on the old split no longer compare."


class MergeConflict(CommitRefused):
    """Both sides changed the same, each in its own way."""

    code = "merge_conflict"
    title = "Both sides changed the same files or labels, each in its own way."
    action = (
        "Look at the conflicts; then do it again and say whose side counts where both changed, "
        "ours or theirs, for each of them or for all, or change one of the sides first."
    )


class NotInConflict(CommitRefused):
    """A resolution names what is no conflict, or is none any more."""

    code = "not_in_conflict"
    title = "The named path or field is not in conflict."
    action = (
        "Look at the conflicts again, as the branch may have moved; then name only what is among "
        "them, with its path, layer and field as they are told."
    )


class NothingSelected(CommitRefused):
    """No file is at the paths."""

    code = "nothing_selected"
    title = "The version has no file at these paths."
    action = "Browse the version to see its paths; a folder is written with a slash at its end."


class FilesChanged(CommitRefused):
    """Files are others, or gone, since the version in which they were chosen."""

    code = "files_changed"
    title = "The branch no longer has these files as they were chosen."
    action = "Nothing was changed. Look at the newest version, and choose again."


class PathTaken(CommitRefused):
    """A file would come to stand where another is."""

    code = "path_taken"
    title = "There is a file or folder at the new path already."
    action = "Choose another path, or remove what is there first; of two versions, in one of them."


class EditImpossible(CommitRefused):
    """An edit cannot be carried out as it is written."""

    code = "edit_impossible"
    title = "The edit cannot be carried out."
    action = "Read what is wrong, correct the edit and send it again."


class BranchProtected(Conflict):
    """`main` always exists."""

    code = "branch_protected"
    title = "The branch main cannot be deleted."
    action = "Revert its versions, or work on another dataset."


class BranchMoved(Conflict):
    """The branch is not where the caller saw it last."""

    code = "branch_moved"
    title = "The branch has moved since you last saw it."
    action = "Look at its new versions; then delete it with its new head, if you still want to."


class StagingBranchReserved(Conflict):
    """Only its writer changes a staging branch."""

    code = "staging_branch_reserved"
    title = "A staging branch is changed by its writer only."
    action = "Write through the writer, or commit or abandon it."
