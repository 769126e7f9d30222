"""Failures of second stores and of replicas, one class each."""

from __future__ import annotations

from atom.core.errors import AlreadyExists, AtomError, Conflict, Invalid, NotFound
from atom.datasets.sources.errors import (
    SourceAway,
    SourceDenied,
    SourceMissing,
    SourceOdd,
    SourceThrottled,
)


class StoreAway(SourceAway):
    """No answer, or one that only a failing server gives."""

    code = "store_away"
    title = "The second store cannot be reached."
    action = "Check the network and the address; a replica goes on by itself where it stopped."


class StoreThrottled(SourceThrottled):
    """503 SlowDown or 429, again and again."""

    code = "store_throttled"
    title = "The second store asks to slow down, and did not stop asking."
    action = "Wait, or give the replica a lower rate; it goes on by itself."


class StoreDenied(SourceDenied):
    """401 or 403."""

    code = "store_denied"
    title = "The second store refuses these credentials."
    action = "Give the store credentials that may read, write, list and delete below its prefix."


class StoreMissing(SourceMissing):
    """The bucket is not there."""

    code = "store_missing"
    title = "The second store has no such bucket."
    action = "Create the bucket, or correct its name."


class StoreOdd(SourceOdd):
    """It answers with something else than S3."""

    code = "store_odd"
    title = "The second store answers in a way that is not understood."
    action = "Check that the address is that of an S3 service, not of a web page."


class StoreCorrupts(SourceOdd):
    """It gave other bytes than were written."""

    code = "store_corrupts"
    title = "The second store gives other bytes than were written."
    action = "Have the store's administrator check its disks; then start the replica again."


class OriginAway(AtomError):
    """Atom's own store does not answer."""

    status = 503
    code = "replica_origin_away"
    title = "Atom's own store cannot be reached."
    action = "Wait: the replica goes on by itself where it stopped."


class OriginCorrupt(Conflict):
    """Atom's own store gives other bytes of a pack than its digest says."""

    code = "replica_origin_corrupt"
    title = "A pack of the version is corrupt in Atom's own store."
    action = "Push the files of the dataset again, then start the replica again."


class StoreAddressRefused(Invalid):
    """The address leads to where the server must not connect, or is none."""

    code = "store_address_refused"
    title = "A store may not be at this address."
    action = "Use a public address, or have the administrator allow it (ATOM_SOURCE_ALLOW)."


class StoreNameTaken(AlreadyExists):
    """Another store has this name."""

    code = "store_name_taken"
    title = "There is a store of that name already."


class StoreNotFound(NotFound):
    """There is no such store."""

    code = "store_not_found"
    title = "There is no such store."
    action = "Look at the list of stores; case matters in their names."


class StoreInUse(Conflict):
    """Versions are replicated there."""

    code = "store_in_use"
    title = "The store holds replicas."
    action = "Remove its replicas first, and wait until they are gone."


class ReplicaNotFound(NotFound):
    """The version has no replica in the store."""

    code = "replica_not_found"
    title = "The version has no replica there."
    action = "Look at the replicas of the version."


class ReplicaPresent(Conflict):
    """The version is replicated into this store already."""

    code = "replica_present"
    title = "The version has a replica in this store already."
    action = "Change the end of that replica, or wait until it is removed."


class ReplicaUnsuitable(Conflict):
    """Files of the version stay at their source."""

    code = "replica_unsuitable"
    title = "This version cannot be replicated."
    action = "Push its files into a dataset, then replicate the version of that."


class ReplicaEnding(Conflict):
    """The replica is being removed."""

    code = "replica_ending"
    title = "The replica is being removed."
    action = "Wait until it is gone, then start it again."
