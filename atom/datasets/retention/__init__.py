"""Retention of data: holds, deletion, collection, sweep, staging and repack.

Only this package removes objects of versions.
"""
