"""Pure parts: manifests."""
