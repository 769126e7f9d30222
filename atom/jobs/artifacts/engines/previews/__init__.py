"""Previews of files for a page, bounded in bytes, rows, depth and points.

A program wrote the bytes, perhaps to do harm. So nothing here runs, includes or fetches what they
name, and their markup leaves as plain text.
"""
