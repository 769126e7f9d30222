"""The client of a registry, layers as files, and the push of an image."""
