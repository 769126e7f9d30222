"""Pure functions and probes of the clusters app: no Django."""
