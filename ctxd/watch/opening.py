"""Choose the watcher for a worktree. Runs on the loop, when a worktree is opened or after events were lost."""

from __future__ import annotations

import errno
import sys

from ctxd.watch.unwatched import Unwatched
from ctxd.watch.watcher import Watcher

_MORE_INSTANCES = "raise sysctl fs.inotify.max_user_instances or the open-files limit"


def open_watcher(root: str) -> Watcher:
    """Return a watcher of `root` without any watch yet; one that proves nothing where the system has no better."""
    if sys.platform != "linux":
        return Unwatched(root, "no event queue on this platform")
    # Importing it elsewhere fails.
    from ctxd.watch.inotify import InotifyWatcher

    try:
        return InotifyWatcher(root)
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE):
            return Unwatched(root, "inotify instances exhausted", _MORE_INSTANCES, passing=True)
        return Unwatched(root, f"inotify is not available: {error.strerror}", passing=error.errno == errno.EACCES)
