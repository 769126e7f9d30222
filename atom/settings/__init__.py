"""Settings: `base` holds what every installation shares, the others override it."""
