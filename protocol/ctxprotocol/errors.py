"""The tree of errors: each has a stable name, an exit code, a message (what happened), a hint (what to do).

Exit codes: 1 nothing found or nothing to index, 2 usage, 3 daemon not reachable, 4 repo or index unusable.
Raised anywhere below; turned into a Failure by the server and back into an error by the client.
"""

from __future__ import annotations

from typing import ClassVar

from ctxprotocol.messages import Failure


class CtxError(Exception):
    """Root of every error that a person may see."""

    error: ClassVar[str] = "internal"
    code: ClassVar[int] = 4

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageFailed(CtxError):
    """The request asks for what cannot be: a bad pattern, a file outside the root, a limit out of range."""

    error = "usage"
    code = 2


class TooLong(UsageFailed):
    """A text or a list in the request is over its limit."""

    error = "too_long"


class RootRefused(CtxError):
    """The directory is a home directory or a file-system root, and `ctx init` has not named it."""

    error = "root_refused"


class RepoUnknown(CtxError):
    """No attached worktree there."""

    error = "repo_unknown"


class RootGone(CtxError):
    """The worktree's directory does not exist, cannot be read or was replaced."""

    error = "root_gone"


class FileNotIndexed(CtxError):
    """The file is not in the index; the message says why where that is known."""

    error = "file_not_indexed"
    code = 1


class IndexUnusable(CtxError):
    """The index cannot be read or written: disk full, no permission, damaged beyond a rebuild."""

    error = "index_unusable"


class ConfigInvalid(CtxError):
    """The user's configuration file cannot be used; the message names file and key."""

    error = "config_invalid"


class ServiceRefused(CtxError):
    """ctxd cannot be made a service here, or a unit in its place is not ours; nothing was done."""

    error = "service_refused"


class DeadlinePassed(CtxError):
    """The request ran out of time inside the daemon."""

    error = "timeout"


class DaemonUnreachable(CtxError):
    """No daemon answers: not permitted, timed out, crashed, not to be started; the message says which."""

    error = "daemon_unreachable"
    code = 3


class EndpointUnsafe(DaemonUnreachable):
    """The place of the socket is not safely ours: another owner, a mode that lets others in, a link."""

    error = "endpoint_unsafe"


class VersionRefused(DaemonUnreachable):
    """Client and daemon are of different versions; the older one has to be upgraded."""

    error = "version_refused"


class ReplaceDaemon(DaemonUnreachable):
    """The daemon is older than this client: stop it and start this client's own."""

    error = "replace_daemon"


class FrameRefused(DaemonUnreachable):
    """A frame is too large, malformed, or of an unknown kind."""

    error = "frame_refused"


class Busy(DaemonUnreachable):
    """The daemon has as many connections as it takes."""

    error = "busy"


class Internal(CtxError):
    """A fault of ours. The message carries the id under which the log has the traceback."""

    error = "internal"


def _leaves(cls: type[CtxError]) -> dict[str, type[CtxError]]:
    found = {cls.error: cls}
    for sub in cls.__subclasses__():
        found.update(_leaves(sub))
    return found


_BY_NAME = _leaves(CtxError)


def to_failure(error: CtxError) -> Failure:
    """Return the error as it goes over the wire; bytes of a path that are not UTF-8 are shown as U+FFFD."""
    return Failure(error=error.error, message=_sendable(error.message), hint=_sendable(error.hint), code=error.code)


def _sendable(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def from_failure(failure: Failure) -> CtxError:
    """Return the error that a Failure stands for; one of a newer daemon keeps its own name and exit code."""
    known = _BY_NAME.get(failure.error)
    if known is not None and known.code == failure.code:
        return known(failure.message, failure.hint)
    error = CtxError(failure.message, failure.hint)
    error.error, error.code = failure.error, failure.code  # type: ignore[misc]
    return error
