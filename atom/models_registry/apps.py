"""Django application of `atom.models_registry`."""

from django.apps import AppConfig


class ModelsRegistryConfig(AppConfig):
    """Models, versions, aliases and evaluations."""

    name = "atom.models_registry"
    label = "models_registry"
    verbose_name = "Models"

    def ready(self) -> None:
        """Answer jobs' question what `digits@candidate` means."""
        from atom.jobs.runs.model_resolver import register_model_resolver
        from atom.models_registry.inputs import resolve_model

        register_model_resolver(resolve_model)
