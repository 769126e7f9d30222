"""Shapes of what is inside a version. Read-only: rows come from manifests, not from tables."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from atom.core.names import TextField

DIFF_KINDS = ["added", "removed", "changed", "renamed", "labels_changed"]


class LinkSerializer(serializers.Serializer[Any]):
    """A symbolic link: its target as text, and where that leads."""

    target = serializers.CharField()
    leads_to = serializers.CharField(
        allow_null=True,
        help_text="A path of the version, empty for its top; null for a link that leaves it or "
        "leads in a circle. There may be nothing at the path.",
    )
    leaves = serializers.BooleanField(help_text="It is created by a pull only on request.")
    kind = serializers.ChoiceField(
        ["file", "folder", "nothing", "circle", "outside"],
        help_text="The kind of the target at its end.",
    )


class AnnotationsSerializer(serializers.Serializer[Any]):
    """Objects that people or models drew on a picture, in pixels from its upper left corner."""

    width = serializers.IntegerField(help_text="Width of the picture, in pixels.")
    height = serializers.IntegerField()
    source = serializers.CharField(  # type: ignore[assignment]  # a column
        help_text="human, import or model."
    )
    source_model = serializers.CharField(allow_null=True)
    revision = serializers.IntegerField(allow_null=True)
    annotator = serializers.CharField(allow_null=True)
    agreement = serializers.FloatField(allow_null=True)
    audit_state = serializers.CharField(allow_null=True)
    labels = serializers.ListField(
        child=serializers.CharField(), help_text="Classes of the whole picture."
    )
    attributes = serializers.DictField(help_text="Attributes of the whole picture, by name.")
    objects = serializers.ListField(
        child=serializers.DictField(),
        help_text="The last is on top. Each has id, label, kind, bounds [x, y, width, height] and "
        "area. On the page of one file also its geometry as in an annotation document; in lists "
        "only the first 100.",
    )
    objects_total = serializers.IntegerField()
    relations = serializers.ListField(
        child=serializers.DictField(),
        required=False,
        help_text="Between objects: id, relation, from, to. Only on the page of one file.",
    )


class EntrySerializer(serializers.Serializer[Any]):
    """One file or link of a version."""

    path = serializers.CharField()
    size_bytes = serializers.IntegerField()
    digest = serializers.CharField()
    media_type = serializers.CharField()
    label = serializers.CharField(allow_null=True)  # type: ignore[assignment]  # a column
    split = serializers.CharField(allow_null=True)
    attributes = serializers.DictField()
    media_url = serializers.CharField(help_text="Empty for a link.")
    thumb_url = serializers.CharField(
        allow_null=True, help_text="Null for what is no picture; a link has that of its file."
    )
    link = LinkSerializer(allow_null=True)
    annotations = AnnotationsSerializer(
        allow_null=True,
        help_text="No objects: nothing is there. Null where nobody looked, and in answers that "
        "show none.",
    )


class FolderSerializer(serializers.Serializer[Any]):
    """A folder below the prefix."""

    name = serializers.CharField()
    prefix = serializers.CharField()


class EntryPageSerializer(serializers.Serializer[Any]):
    """One page of a folder."""

    folders = FolderSerializer(many=True)
    results = EntrySerializer(many=True)
    next = serializers.CharField(allow_null=True)
    total = serializers.IntegerField(help_text="Files that match below the prefix.")
    total_is_exact = serializers.BooleanField(
        help_text="False: at least so many match; counting them all would take too long."
    )
    counted_before = serializers.CharField(
        allow_null=True, help_text="Where the count stopped: from this path on, nobody looked."
    )


class VersionStatsSerializer(serializers.Serializer[Any]):
    """Counts of files by what is known of them."""

    files = serializers.IntegerField(help_text="Files, without symbolic links.")
    links = serializers.IntegerField(help_text="Symbolic links.")
    labels = serializers.DictField(child=serializers.IntegerField())
    splits = serializers.DictField(child=serializers.IntegerField())
    media_types = serializers.DictField(child=serializers.IntegerField())
    unlabelled = serializers.IntegerField()
    unreadable = serializers.IntegerField()
    unreadable_paths = serializers.ListField(
        child=serializers.CharField(), help_text="The first few files that cannot be read."
    )
    annotated = serializers.IntegerField(
        help_text="Files that somebody drew objects on, or looked at and saw none."
    )
    described = serializers.IntegerField(
        help_text="Files whose attributes hold objects of an earlier import; the edit move_objects "
        "moves these to the layer."
    )
    object_labels = serializers.DictField(
        child=serializers.IntegerField(), help_text="Objects of each class."
    )
    unsplit = serializers.IntegerField(
        help_text="Files in no split, which are read as train; 0 where the version has no splits."
    )
    unsplit_paths = serializers.ListField(
        child=serializers.CharField(), help_text="The first few files in no split."
    )


class ObjectCountsSerializer(serializers.Serializer[Any]):
    """Objects that differ."""

    added = serializers.IntegerField()
    removed = serializers.IntegerField()
    changed = serializers.IntegerField()


class ObjectChangeSerializer(serializers.Serializer[Any]):
    """One object that differs."""

    id = serializers.CharField()
    change = serializers.ChoiceField(["added", "removed", "changed"])
    label = serializers.CharField(  # type: ignore[assignment]  # a key
        help_text="Its class in the newer version that has it."
    )
    kind = serializers.CharField(help_text="Its shape there, such as box or polygon.")
    fields = serializers.ListField(  # type: ignore[assignment]  # a key
        child=serializers.CharField(),
        help_text="The parts that changed: label, geometry, attributes, ignore, text, track.",
    )


class FileObjectChangesSerializer(ObjectCountsSerializer):
    """The objects of one file that differ."""

    changes = ObjectChangeSerializer(many=True, help_text="The first 100.")


class DiffSummarySerializer(serializers.Serializer[Any]):
    """Counts of a diff by kind."""

    added = serializers.IntegerField()
    removed = serializers.IntegerField()
    changed = serializers.IntegerField()
    renamed = serializers.IntegerField()
    labels_changed = serializers.IntegerField(
        help_text="Files of which only the labels or objects differ."
    )


class DiffRowSerializer(serializers.Serializer[Any]):
    """One difference; `old` and `new` where there is one."""

    kind = serializers.ChoiceField(choices=DIFF_KINDS)
    path = serializers.CharField()
    old_path = serializers.CharField(allow_null=True, required=False)
    old = EntrySerializer(allow_null=True, required=False)
    new = EntrySerializer(allow_null=True, required=False)
    objects = FileObjectChangesSerializer(allow_null=True)


class LabelChangeSerializer(serializers.Serializer[Any]):
    """A label that became another one; null is none."""

    old = serializers.CharField(allow_null=True)
    new = serializers.CharField(allow_null=True)
    count = serializers.IntegerField()


class DiffPageSerializer(serializers.Serializer[Any]):
    """One page of a diff."""

    summary = DiffSummarySerializer()
    objects = ObjectCountsSerializer(help_text="Counts of the whole comparison.")
    label_changes = LabelChangeSerializer(
        many=True, help_text="The 50 most frequent ones of the whole comparison."
    )
    total = serializers.IntegerField(help_text="Differences that the filters leave.")
    results = DiffRowSerializer(many=True)
    next = serializers.CharField(allow_null=True)


class ManifestSerializer(serializers.Serializer[Any]):
    """Everything needed to read a version with the SDK alone."""

    version = serializers.DictField()
    commit = serializers.CharField()
    root_digest = serializers.CharField()
    root = serializers.DictField(help_text="The root, as stored.")  # type: ignore[assignment]  # a key
    urls = serializers.DictField(child=serializers.URLField())
    quarantined_packs = serializers.ListField(child=serializers.CharField())
    expires_at = serializers.DateTimeField()


class ManifestKeysSerializer(serializers.Serializer[Any]):
    """Manifest objects that a client is about to read."""

    keys = serializers.ListField(
        child=serializers.RegexField(
            r"^(ranges|deltas|layers)/[0-9a-f]{64}\.parquet$|^groups/[0-9a-f]{64}\.json$"
        ),
        min_length=1,
        max_length=1000,
    )


class PackDigestsSerializer(serializers.Serializer[Any]):
    """Packs that a client is about to read."""

    packs = serializers.ListField(
        child=serializers.RegexField(r"^[0-9a-f]{64}$"), min_length=1, max_length=1000
    )


class SourcePathsSerializer(serializers.Serializer[Any]):
    """Files at a source that a client is about to read."""

    paths = serializers.ListField(
        child=TextField(max_length=4096, trim_whitespace=False),
        min_length=1,
        max_length=1000,
    )


class SourceUrlsSerializer(serializers.Serializer[Any]):
    """Where to GET each file, by its path: addresses of this server."""

    urls = serializers.DictField(child=serializers.CharField())


class PackUrlsSerializer(serializers.Serializer[Any]):
    """Where to GET each pack."""

    urls = serializers.DictField(child=serializers.URLField())
    expires_at = serializers.DateTimeField()
