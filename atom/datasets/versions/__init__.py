"""The content of a version: its plan, changes, layers and counts. Pure.

It reads no table.
"""
