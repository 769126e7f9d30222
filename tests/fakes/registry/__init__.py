"""A registry that implements the OCI distribution API strictly, in this process."""

from .images import add_image, machine_layer, read_image
from .server import Registry

__all__ = ["Registry", "add_image", "machine_layer", "read_image"]
