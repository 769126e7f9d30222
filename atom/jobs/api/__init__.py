"""Addresses of the REST API of runs; the views stand with their capabilities."""
