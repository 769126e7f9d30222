"""Versions as jobs see them on this machine: links to packs, mounted folders, views to stream.

It writes folders of attempts. It brings nothing to the node.
"""
