"""Registries of images: references, manifests, and the client of the OCI distribution API.

It reads base images and pushes images that are made of them. It reads no table.
"""
