"""Datasets as files: save one with its history into an archive, load it elsewhere.

It reads and writes objects and commits. It copies no pack twice.
"""
