"""Words for each thing that a format cannot hold, or that a source does not say well.

A code stands for one reason; `report.LabelReport` counts by code. Templates have no plural forms,
so that one sentence is right for every count.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from atom_sdk.sentences import Sentence

CHANGED: Mapping[str, Callable[[int], Sentence]] = {
    "turned_upright": lambda n: Sentence(
        "formats.turned_upright",
        "Pictures whose labels are of the stored picture, turned as EXIF says: {count}",
        count=n,
    ),
    "boxes_as_polygons": lambda n: Sentence(
        "formats.boxes_as_polygons", "Boxes as polygons of four corners: {count}", count=n
    ),
    "boxes_as_rotated": lambda n: Sentence(
        "formats.boxes_as_rotated", "Boxes as rotated boxes of angle 0: {count}", count=n
    ),
    "ellipses_as_polygons": lambda n: Sentence(
        "formats.ellipses_as_polygons", "Ellipses as polygons: {count}", count=n
    ),
    "keypoint_boxes_made": lambda n: Sentence(
        "formats.keypoint_boxes_made", "Keypoints that get the box around them: {count}", count=n
    ),
    "keypoints_as_boxes": lambda n: Sentence(
        "formats.keypoints_as_boxes", "Sets of keypoints as boxes: {count}", count=n
    ),
    "masks_as_boxes": lambda n: Sentence(
        "formats.masks_as_boxes", "Masks as boxes: {count}", count=n
    ),
    "masks_as_polygons": lambda n: Sentence(
        "formats.masks_as_polygons", "Masks as polygons: {count}", count=n
    ),
    "masks_as_rotated": lambda n: Sentence(
        "formats.masks_as_rotated", "Masks as rotated boxes around them: {count}", count=n
    ),
    "parts_as_objects": lambda n: Sentence(
        "formats.parts_as_objects",
        "Polygons of several parts, each part as an object: {count}",
        count=n,
    ),
    "points_as_objects": lambda n: Sentence(
        "formats.points_as_objects",
        "Shapes of several points, each point as an object: {count}",
        count=n,
    ),
    "polygons_as_boxes": lambda n: Sentence(
        "formats.polygons_as_boxes", "Polygons as boxes: {count}", count=n
    ),
    "polygons_as_masks": lambda n: Sentence(
        "formats.polygons_as_masks",
        "Polygons with holes or of several parts as masks: {count}",
        count=n,
    ),
    "polygons_as_rotated": lambda n: Sentence(
        "formats.polygons_as_rotated", "Polygons as rotated boxes around them: {count}", count=n
    ),
    "rotated_as_boxes": lambda n: Sentence(
        "formats.rotated_as_boxes", "Rotated boxes as the boxes around them: {count}", count=n
    ),
    "rotated_as_polygons": lambda n: Sentence(
        "formats.rotated_as_polygons", "Rotated boxes as polygons: {count}", count=n
    ),
    "cut_at_border": lambda n: Sentence(
        "formats.cut_at_border", "Shapes cut at the border of their picture: {count}", count=n
    ),
    "rounded_to_pixels": lambda n: Sentence(
        "formats.rounded_to_pixels", "Boxes rounded to whole pixels: {count}", count=n
    ),
    "values_as_text": lambda n: Sentence(
        "formats.values_as_text", "Attributes with several choices as one text: {count}", count=n
    ),
    "read_as_zero_based": lambda n: Sentence(
        "formats.read_as_zero_based",
        "Files with a coordinate 0, read as counting pixels from 0: {count}",
        count=n,
    ),
    "fractions_read": lambda n: Sentence(
        "formats.fractions_read",
        "Files with fractions of pixels, read as counting from 1: {count}",
        count=n,
    ),
    "corners_as_rotated": lambda n: Sentence(
        "formats.corners_as_rotated",
        "Four corners that are no rectangle, read as the rotated boxes around them: {count}",
        count=n,
    ),
    "crossing_polygons": lambda n: Sentence(
        "formats.crossing_polygons",
        "Polygons that cross themselves, read as masks: {count}",
        count=n,
    ),
}

LOST: Mapping[str, Callable[[int], Sentence]] = {
    "attributes_left_out": lambda n: Sentence(
        "formats.attributes_left_out", "Attributes of objects left out: {count}", count=n
    ),
    "boxes_left_out": lambda n: Sentence(
        "formats.boxes_left_out", "Boxes left out: {count}", count=n
    ),
    "masks_left_out": lambda n: Sentence(
        "formats.masks_left_out", "Masks left out: {count}", count=n
    ),
    "polygons_left_out": lambda n: Sentence(
        "formats.polygons_left_out", "Polygons left out: {count}", count=n
    ),
    "rotated_left_out": lambda n: Sentence(
        "formats.rotated_left_out", "Rotated boxes left out: {count}", count=n
    ),
    "holes_left_out": lambda n: Sentence(
        "formats.holes_left_out", "Holes of polygons left out: {count}", count=n
    ),
    "ids_left_out": lambda n: Sentence(
        "formats.ids_left_out", "Ids of objects that the format cannot carry: {count}", count=n
    ),
    "ignore_left_out": lambda n: Sentence(
        "formats.ignore_left_out", "Ignore regions left out: {count}", count=n
    ),
    "keypoint_boxes_left_out": lambda n: Sentence(
        "formats.keypoint_boxes_left_out", "Boxes of keypoints left out: {count}", count=n
    ),
    "keypoints_left_out": lambda n: Sentence(
        "formats.keypoints_left_out", "Sets of keypoints left out: {count}", count=n
    ),
    "labels_left_out": lambda n: Sentence(
        "formats.labels_left_out", "Classes of whole pictures left out: {count}", count=n
    ),
    "media_shapes_left_out": lambda n: Sentence(
        "formats.media_shapes_left_out", "Shapes of videos or texts left out: {count}", count=n
    ),
    "outlines_left_out": lambda n: Sentence(
        "formats.outlines_left_out", "Outlines beside keypoints left out: {count}", count=n
    ),
    "picture_attributes_left_out": lambda n: Sentence(
        "formats.picture_attributes_left_out",
        "Attributes of whole pictures left out: {count}",
        count=n,
    ),
    "points_left_out": lambda n: Sentence(
        "formats.points_left_out", "Points left out: {count}", count=n
    ),
    "polylines_left_out": lambda n: Sentence(
        "formats.polylines_left_out", "Polylines left out: {count}", count=n
    ),
    "predictions_left_out": lambda n: Sentence(
        "formats.predictions_left_out",
        "Predictions beside annotations of a person left out: {count}",
        count=n,
    ),
    "relations_left_out": lambda n: Sentence(
        "formats.relations_left_out", "Relations left out: {count}", count=n
    ),
    "texts_left_out": lambda n: Sentence(
        "formats.texts_left_out", "Transcriptions left out: {count}", count=n
    ),
    "tracks_left_out": lambda n: Sentence(
        "formats.tracks_left_out", "Ids of tracks left out: {count}", count=n
    ),
    "kept_twice": lambda n: Sentence(
        "formats.kept_twice", "Further annotations of the same picture left out: {count}", count=n
    ),
    "outside_left_out": lambda n: Sentence(
        "formats.outside_left_out", "Objects outside of their picture left out: {count}", count=n
    ),
    "name_taken": lambda n: Sentence(
        "formats.name_taken",
        "Pictures whose file of labels would have the name of another, left out: {count}",
        count=n,
    ),
    "class_unknown": lambda n: Sentence(
        "formats.class_unknown", "Objects of an unknown class left out: {count}", count=n
    ),
    "number_wrong": lambda n: Sentence(
        "formats.number_wrong", "Objects with a coordinate that is no number: {count}", count=n
    ),
    "shape_wrong": lambda n: Sentence(
        "formats.shape_wrong", "Objects whose shape cannot be read: {count}", count=n
    ),
    "shape_unknown": lambda n: Sentence(
        "formats.shape_unknown", "Objects of a kind that is not known here: {count}", count=n
    ),
    "value_wrong": lambda n: Sentence(
        "formats.value_wrong", "Attributes whose value cannot be read: {count}", count=n
    ),
    "relation_wrong": lambda n: Sentence(
        "formats.relation_wrong", "Relations without both of their objects: {count}", count=n
    ),
    "picture_missing": lambda n: Sentence(
        "formats.picture_missing", "Annotations without their picture: {count}", count=n
    ),
    "picture_ambiguous": lambda n: Sentence(
        "formats.picture_ambiguous",
        "Annotations whose name several pictures have: {count}",
        count=n,
    ),
    "name_refused": lambda n: Sentence(
        "formats.name_refused",
        "Names of pictures that are absolute, leave their folder or cannot be kept: {count}",
        count=n,
    ),
    "size_unknown": lambda n: Sentence(
        "formats.size_unknown", "Pictures without a known width and height: {count}", count=n
    ),
    "sides_differ": lambda n: Sentence(
        "formats.sides_differ",
        "Pictures with objects about another width and height than theirs, left out: {count}",
        count=n,
    ),
    "picture_twice": lambda n: Sentence(
        "formats.picture_twice",
        "Pictures that a source names again; the first counts: {count}",
        count=n,
    ),
    "not_labelled": lambda n: Sentence(
        "formats.not_labelled",
        "Pictures without annotations, not even empty ones: {count}",
        count=n,
    ),
    "too_many_objects": lambda n: Sentence(
        "formats.too_many_objects",
        "Objects beyond the ten thousand that a picture may have, left out: {count}",
        count=n,
    ),
    "record_wrong": lambda n: Sentence(
        "formats.record_wrong", "Records that cannot be read: {count}", count=n
    ),
}
