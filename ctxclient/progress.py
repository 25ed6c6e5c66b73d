"""A line on the terminal that says how far the daemon is; nothing where stderr is no terminal.

Runs in the client process while it waits. Imported only when a Progress reply arrives.
"""

from __future__ import annotations

import os

BAR_COLUMNS = 24


class Bar:
    """One line on stderr, written over by the next state and wiped when done."""

    def __init__(self, descriptor: int = 2) -> None:
        self._descriptor = descriptor
        self._shown = False
        self._visible = os.isatty(descriptor)

    def show(self, phase: str, done: int, total: int) -> None:
        """Show a state; `total` 0 = not known yet."""
        if self._visible:
            self._shown = True
            self._write("\r\x1b[K" + line(phase, done, total, self._columns()))

    def clear(self) -> None:
        """Wipe the line."""
        if self._shown:
            self._shown = False
            self._write("\r\x1b[K")

    def _columns(self) -> int:
        try:
            return os.get_terminal_size(self._descriptor).columns or 80
        except OSError:
            return 80

    def _write(self, words: str) -> None:
        try:
            os.write(self._descriptor, words.encode())
        except OSError:
            self._visible = False


def line(phase: str, done: int, total: int, columns: int) -> str:
    """Return the line for a state, cut to one less than `columns` so that it does not wrap."""
    words = "".join(char for char in phase if char.isprintable())
    if total <= 0:
        count = f" {done:,}" if done else ""
        return f"{words}{count} ..."[: columns - 1]
    filled = BAR_COLUMNS * min(done, total) // total
    bar = "#" * filled + "." * (BAR_COLUMNS - filled)
    return f"{words} [{bar}] {done:,}/{total:,}"[: columns - 1]
