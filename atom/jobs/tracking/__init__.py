"""Runs of programs that run elsewhere and report to Atom.

It writes runs that no executor starts.
"""
