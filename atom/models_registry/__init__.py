"""Models, their versions and aliases, evaluations and lineage.

It reads runs and datasets and writes its own tables alone.
"""
