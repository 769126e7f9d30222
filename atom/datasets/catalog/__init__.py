"""Datasets, branches, tags, versions and their logs in the object store.

It writes these rows and logs. It opens no pack.
"""
