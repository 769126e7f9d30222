"""Why code cannot be fetched from git, one class each."""

from __future__ import annotations

from atom.core.errors import AtomError, Conflict, Invalid


class GitError(AtomError):
    """The commit was not fetched."""

    status = 502


class GitAddressInvalid(Invalid):
    """The text is no address of a repository."""

    code = "git_address_invalid"
    title = "This is no address of a git repository."
    action = "Write https://host/path or git@host:path, without a password in it."


class GitAddressRefused(GitError):
    """The address leads to where the server must not connect."""

    code = "git_address_refused"
    title = "Code may not be fetched from this address."
    action = "Use a public address, or have the administrator allow it (ATOM_SOURCE_ALLOW)."


class GitAway(GitError):
    """The server does not answer."""

    code = "git_away"
    title = "The git server cannot be reached."
    action = "Check the address; if it is right, try again in a while."


class GitTls(GitError):
    """There is no secure connection."""

    code = "git_tls"
    title = "No secure connection to the git server can be made."
    action = (
        "Check the address and its port. A certificate of one's own authority has to be known to "
        "Atom's machine: its administrator names a file with it (SSL_CERT_FILE)."
    )


class GitOdd(GitError):
    """The server answers something else than git."""

    code = "git_odd"
    title = "The server refused, or does not speak git."
    action = "Check that the address is that of the repository and that its secret may read it."


class GitNotFound(GitError):
    """There is no repository, or it is hidden from strangers."""

    code = "git_not_found"
    title = "There is no repository at this address for who asks."
    action = "Check the address; for a private repository, choose a secret that may read it."


class GitNotAllowed(GitError):
    """The server does not accept the secret."""

    code = "git_not_allowed"
    title = "The git server does not accept the secret."
    action = (
        "Choose another secret: a token for https, a private key without a passphrase for ssh, "
        "and give its public key to the server."
    )


class GitSecretMissing(GitError):
    """The secret was removed, or is of another encryption key."""

    code = "git_secret_missing"
    title = "The secret that the code is fetched with cannot be read."
    action = "Set the secret again, then fetch the code once more."


class GitRefNotFound(GitError):
    """The repository has no such branch, tag or commit."""

    code = "git_ref_not_found"
    title = "The repository has no such branch, tag or commit."
    action = "Name a branch, a tag, or all 40 characters of a commit."


class GitTooLarge(GitError):
    """The commit holds more than a snapshot may."""

    code = "git_too_large"
    title = "The commit holds more than a snapshot of code may: 100 MiB."
    action = "Keep data in a dataset and name it as an input of the run."


class GitHostKeyChanged(GitError):
    """An SSH server shows another key than before."""

    code = "git_host_key_changed"
    title = "The git server shows another key than at the first time."
    action = "Ask who runs it whether the key was changed; then have the known key forgotten."


class GitTimeout(GitError):
    """It took too long."""

    code = "git_timeout"
    title = "Fetching the code took too long."
    action = "Try again; if it stays so, name a branch instead of a commit."


class CodeFetchActive(Conflict):
    """Too many fetches are under way."""

    code = "code_fetches_many"
    title = "Too much code is being fetched for this project already."
    action = "Wait until one of them is done."


ERRORS: dict[str, type[AtomError]] = {
    error.code: error
    for error in (
        GitAddressRefused, GitAway, GitTls, GitOdd, GitNotFound, GitNotAllowed, GitRefNotFound,
        GitSecretMissing, GitTooLarge, GitHostKeyChanged, GitTimeout,
    )
}  # fmt: skip
