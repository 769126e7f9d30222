"""Django application of `atom.mlflow_api`."""

from django.apps import AppConfig


class MlflowApiConfig(AppConfig):
    """MLflow's API over runs, files and the registry."""

    name = "atom.mlflow_api"
    label = "mlflow_api"
    verbose_name = "MLflow API"
