"""Cleaning reports: duplicates, unreadable and unusual pictures of a version.

It reads versions and writes reports; `datasets` removes what a person chooses.
"""
