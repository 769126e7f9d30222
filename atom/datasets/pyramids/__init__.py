"""Tiles of large and deep pictures: asked for, made by a worker, cleared away.

It writes their rows and objects. It knows no version.
"""
