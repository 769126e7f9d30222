"""Failures between this server and a cluster's API."""

from __future__ import annotations

from atom.core.errors import AtomError


class KubeconfigRefused(AtomError):
    """The kubeconfig cannot be read, or names something that the server must not run or read."""

    status = 422
    code = "kubeconfig_refused"
    title = "This kubeconfig cannot be used."
    action = (
        "Use a token or certificates that stand in the file itself, "
        "as kubectl config view --minify --flatten --raw writes them."
    )


class InClusterAccountMissing(AtomError):
    """The server runs outside of a cluster, or its pod has no account."""

    status = 422
    code = "in_cluster_account_missing"
    title = "This server has no account of a cluster."
    action = "Paste a kubeconfig, or run Atom in the cluster with a service account."


class ClusterAddressRefused(AtomError):
    """The API's host leads to a network that the installation does not list."""

    status = 422
    code = "cluster_address_refused"
    title = "This server may not connect to that address."
    action = "Give a public address, or have ATOM_CLUSTER_NETWORKS name the network."


class ClusterAddressForbidden(ClusterAddressRefused):
    """The API's host leads to an address that no setting opens, such as that of metadata."""

    code = "cluster_address_forbidden"
    action = "Give the address of the cluster's API server; no setting opens this one."


class ClusterFailure(AtomError):
    """The cluster cannot be asked; the subclasses say why."""

    # Seconds that the server asks to wait before the next request; 0 if it does not ask.
    retry_after_s: float = 0.0
    status = 502
    code = "cluster_failure"
    title = "The cluster could not be asked."
    action = "Check the cluster, then check its connection again."


class ClusterUnreachable(ClusterFailure):
    """Nothing answers at the address."""

    code = "cluster_unreachable"
    title = "The API of the cluster does not answer."
    action = "Check the address and the firewall between this server and the cluster."


class ClusterTooSlow(ClusterFailure):
    """The answer did not come in time."""

    code = "cluster_too_slow"
    title = "The API of the cluster answers too slowly."
    action = "Try again later; if it stays, look at the load of the cluster's API server."


class ClusterCertificateWrong(ClusterFailure):
    """The API server's certificate cannot be trusted."""

    code = "cluster_certificate_wrong"
    title = "The certificate of the cluster's API cannot be trusted."
    action = "Renew the certificate, or give the kubeconfig its certificate authority."


class ClusterRefusesCredentials(ClusterFailure):
    """The API server does not know the token or certificate (401)."""

    code = "cluster_refuses_credentials"
    title = "The cluster refuses the credentials."
    action = "Give a new kubeconfig with a token or certificate that is valid."


class ClusterForbids(ClusterFailure):
    """The account may not do that in the cluster (403)."""

    code = "cluster_forbids"
    title = "The account may not do this in the cluster."
    action = "Apply the YAML that the check of the cluster shows, then check again."


class ClusterAnswerWrong(ClusterFailure):
    """The answer is none of a Kubernetes API."""

    code = "cluster_answer_wrong"
    title = "That address does not answer as a Kubernetes API does."
    action = "Check that the kubeconfig names the API server, not a portal or proxy before it."


class ClusterIsAnother(ClusterFailure):
    """Another cluster answers at the address than the one that was registered."""

    code = "cluster_is_another"
    title = "Another cluster answers at this address."
    action = (
        "Give a kubeconfig of the registered cluster. If it was built anew, cancel the runs that "
        "are open there and give its kubeconfig again."
    )


class ClusterFails(ClusterFailure):
    """The API server answers with an error of its own."""

    code = "cluster_fails"
    title = "The cluster's API reports a failure."
    action = "Try again in a moment; if it stays, look at the cluster's API server."

    @property
    def status_code(self) -> int:
        """Return the status of its answer, 0 if it is not known."""
        return int(self.extra.get("status_code") or 0)
