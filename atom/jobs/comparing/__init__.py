"""Runs beside each other: parameters, metrics, curves and code.

It reads many runs in a fixed number of queries. It writes nothing.
"""
