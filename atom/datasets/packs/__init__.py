"""Packs: uploads, verification, quarantine, corrupt packs and pictures in them.

It writes packs and uploads. It knows no version.
"""
