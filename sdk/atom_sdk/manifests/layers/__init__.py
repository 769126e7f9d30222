"""Layers: splits and labels of entries, each layer with a digest of its own."""
