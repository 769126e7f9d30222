"""Writes EROFS metadata images over packs. Format: README.md."""

from atom_sdk.mount.erofs.image import ImageSummary, write_image

__all__ = ["ImageSummary", "write_image"]
