"""Python environments of runs: requirements become one digest, which is built once.

It writes runtimes and folders of environments.
"""
