"""Limits of what the pods of one project hold in a cluster."""
