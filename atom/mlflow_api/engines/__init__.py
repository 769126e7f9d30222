"""Pure functions: names, filters and messages of MLflow."""
