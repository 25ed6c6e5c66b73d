"""What providers have cost, and what was learnt of their models: kept in the state directory, by the daemon alone.

A cost is noted before it is incurred, as an estimate, and put right by the reply: a daemon that dies counts too much
rather than too little. Every function writes a small file and may wait for the disk: call none on the loop.
"""

from __future__ import annotations

import contextlib
import os
import threading

import msgspec

from ctxprotocol import files

FILE = "providers.json"
_MOST_BYTES = 1 << 20


class LedgerFailed(Exception):
    """What was spent is not known, or cannot be written: nothing that costs may be asked."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class _Page(msgspec.Struct, frozen=True):
    """The file. `spent_usd` by provider; `dimensions` by model."""

    spent_usd: dict[str, float] = {}
    dimensions: dict[str, int] = {}


class Ledger:
    """See the module. It is read once, when it is made; whatever is asked of it may be asked by several threads."""

    def __init__(self, state_directory: str) -> None:
        self.path = os.path.join(state_directory, FILE)
        self._lock = threading.Lock()
        self._fault = ""
        self._page = self._read()

    @property
    def spent_usd(self) -> float:
        """What was spent in all."""
        return sum(self._page.spent_usd.values())

    def spent_by(self, name: str) -> float:
        """Return what one provider has cost."""
        return self._page.spent_usd.get(name, 0.0)

    def reserve(self, name: str, usd: float, cap_usd: float) -> bool:
        """Note that a provider will cost so much; False, and nothing noted, if that is more than may be spent.

        Raises LedgerFailed.
        """
        with self._lock:
            if self._fault:
                raise LedgerFailed(self._fault, f"look at it, or begin anew with nothing spent: rm {self.path}")
            if self.spent_usd + usd > cap_usd:
                return False
            self._note(name, usd)
            return True

    def settle(self, name: str, reserved_usd: float, real_usd: float) -> None:
        """Put a reserved cost right. Raises LedgerFailed."""
        with self._lock:
            self._note(name, real_usd - reserved_usd)

    def dimensions(self, model: str) -> int:
        """Return how many dimensions a model's vectors have, 0 where that was never learnt."""
        return self._page.dimensions.get(model, 0)

    def learn(self, model: str, dimensions: int) -> None:
        """Keep how many dimensions a model's vectors have; 0: it must be learnt anew. Raises LedgerFailed."""
        with self._lock:
            known = {**self._page.dimensions, model: dimensions}
            self._write(msgspec.structs.replace(self._page, dimensions={k: v for k, v in known.items() if v}))

    def _note(self, name: str, usd: float) -> None:
        spent = {**self._page.spent_usd, name: max(0.0, self.spent_by(name) + usd)}
        self._write(msgspec.structs.replace(self._page, spent_usd=spent))

    def _read(self) -> _Page:
        try:
            with open(self.path, "rb") as file:
                return msgspec.json.decode(file.read(_MOST_BYTES), type=_Page)
        except FileNotFoundError:
            return _Page()
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as fault:
            self._fault = f"what was spent on providers is not known: {self.path}: {fault}"
            return _Page()

    def _write(self, page: _Page) -> None:
        if self._fault:
            self._page = page  # a damaged file stays as it is, for its owner to look at
            return
        new = f"{self.path}.new"
        try:
            descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | files.NO_FOLLOW | files.OWN, 0o600)
            with open(descriptor, "wb") as file:
                file.write(msgspec.json.format(msgspec.json.encode(page)) + b"\n")
                file.flush()
                os.fsync(descriptor)
            os.replace(new, self.path)
        except OSError as fault:
            with contextlib.suppress(OSError):
                os.unlink(new)
            raise LedgerFailed(
                f"what is spent cannot be noted: {self.path}: {fault.strerror}", "free some room"
            ) from None
        self._page = page
