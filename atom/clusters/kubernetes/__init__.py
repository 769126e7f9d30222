"""The one door to a cluster's API: kubeconfigs, checked addresses, connections.

Only this package imports the client of Kubernetes. It writes no table.
"""

# The kind of its clusters.
KIND = "kubernetes"
