"""The dataset bytes on a node: warm-up, coverage, eviction and the inputs of placement.

It reads versions of `datasets` and writes a node's cache folder. It knows no run.
"""
