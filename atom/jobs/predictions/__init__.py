"""The predictions that a run leaves, file by file.

It reads one artifact of a run. It writes nothing.
"""
