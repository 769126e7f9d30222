"""Questions to a connected cluster. Each returns a finding; none changes the cluster."""
