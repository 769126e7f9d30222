"""The recorded answers of a real Kubernetes, replayed against the stand-in or a real server."""
