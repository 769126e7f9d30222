"""The machines that run jobs: their slots, memory, GPUs and signs of life.

It starts no job and chooses no machine: `jobs` does.
"""
