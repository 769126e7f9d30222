"""LabelX: labeling tasks, leases, audits and the versions that they publish.

It writes its own tables and publishes through the commits of `datasets`.
"""
