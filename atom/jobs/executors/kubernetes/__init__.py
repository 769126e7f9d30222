"""Runs attempts as Jobs of a Kubernetes cluster, which schedules their pods by itself."""
