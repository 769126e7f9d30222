"""Bytes for browsers and S3 tools: media by range, thumbnails, tiles, the S3 endpoint.

It never asks the database: links carry what it may serve.
"""
