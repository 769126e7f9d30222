"""MLflow's REST API: an unmodified client logs to Atom (docs/mlflow.md, docs/adr/0042)."""
