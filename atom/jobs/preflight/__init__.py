"""The check whether a dataset fits a workflow, before a run starts.

It reads plans of runs and versions. It writes nothing.
"""
