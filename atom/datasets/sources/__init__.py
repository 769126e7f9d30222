"""Sources: places whose objects are registered without a copy, and the scans of them.

It writes sources, scans and commits. Every address is checked before anything connects to it.
"""
