"""The layer of objects that a label task writes."""

from typing import Final

from atom_sdk.manifests.layers.object_rows import OBJECTS_KIND, OBJECTS_LAYER

NAME: Final = OBJECTS_LAYER
KIND: Final = OBJECTS_KIND
