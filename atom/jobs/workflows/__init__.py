"""Built-in workflows: their folders, typed parameters and data needs.

It writes the table of workflows from `builtin/`.
"""
