"""Pure functions: sampling for audit, documents, ontologies, label layers."""
