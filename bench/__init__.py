"""Benchmarks with their peers on the same work, interleaved in one run."""
