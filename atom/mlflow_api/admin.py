"""What MLflow's clients logged."""

from atom.core.admin import show_rest

show_rest("mlflow_api")
