"""Volumes of pods: inputs of runs, as drivers of nodes ask for them; rows are those of `cache`."""
