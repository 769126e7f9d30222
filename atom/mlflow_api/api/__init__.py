"""The endpoints, as MLflow's client calls them."""
