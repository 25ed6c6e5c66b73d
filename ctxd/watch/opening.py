"""Choose the watcher for a worktree. Runs on the loop, when a worktree is opened or after events were lost."""

from __future__ import annotations

import errno
import sys

from ctxd.watch.unwatched import Unwatched
from ctxd.watch.watcher import Watcher

_MORE_INSTANCES = "raise sysctl fs.inotify.max_user_instances or the open-files limit"
_LATE = "events of this platform come too late to prove anything"


def open_watcher(root: str) -> Watcher:
    """Return a watcher of `root` without any watch yet; one that proves nothing where the system has no better."""
    if sys.platform == "linux":
        return _open_inotify(root)
    return open_native(root)


def _open_inotify(root: str) -> Watcher:
    if sys.platform == "linux":
        # Importing it elsewhere fails.
        from ctxd.watch.inotify import InotifyWatcher

        try:
            return InotifyWatcher(root)
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):
                return Unwatched(root, "inotify instances exhausted", _MORE_INSTANCES, passing=True)
            return Unwatched(root, f"inotify is not available: {error.strerror}", passing=error.errno == errno.EACCES)
    raise OSError("this is not Linux")


def open_native(root: str) -> Watcher:
    """Return what macOS and Windows have: events that save work, while a comparison decides before each answer."""
    # Late, as the observers of each platform load what the others do not have.
    from ctxd.watch.native import NativeWatcher
    from ctxd.watch.streams import open_stream

    try:
        return NativeWatcher(root, _LATE, open_stream)
    except OSError as error:
        return Unwatched(root, f"no events of this tree: {error.strerror or error}", passing=True)
