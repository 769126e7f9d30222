"""Every write of the MLflow-compatible API that no lower application has."""
