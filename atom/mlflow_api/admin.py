"""Operators' tables of experiments, logged models and inputs of MLflow's clients."""

from atom.core.admin import show_rest

show_rest("mlflow_api")
