"""HTTP to the server and the object store: requests, retries, ranges, uploads."""
