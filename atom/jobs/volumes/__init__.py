"""Volumes of pods: inputs of runs, as drivers of nodes ask for them. It writes volumes of `cache`."""
