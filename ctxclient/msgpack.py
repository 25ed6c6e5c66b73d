"""The few msgpack forms that the hot path writes and reads, by hand, byte for byte as msgspec writes them.

Pure functions. msgspec itself takes 35 to 50 ms to import, more than the whole round trip; the tests hold
these against it.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Value = bool | int | str | bytes | Sequence[str]


def pack(value: "Value") -> bytes:
    """Return one value: a truth value, an integer of at most 64 bits, a text, bytes, or a list of texts."""
    if isinstance(value, bool):
        return b"\xc3" if value else b"\xc2"
    if isinstance(value, int):
        return _integer(value)
    if isinstance(value, str):
        data = value.encode()
        size = len(data)
        if size < 32:
            return bytes((0xA0 | size,)) + data
        return (b"\xd9" + bytes((size,)) if size < 256 else _sized(0xDA, 0xDB, size)) + data
    if isinstance(value, bytes):
        size = len(value)
        return (b"\xc4" + bytes((size,)) if size < 256 else _sized(0xC5, 0xC6, size)) + value
    size = len(value)
    return (bytes((0x90 | size,)) if size < 16 else _sized(0xDC, 0xDD, size)) + b"".join(map(pack, value))


def _sized(lead16: int, lead32: int, size: int) -> bytes:
    if size < 1 << 16:
        return bytes((lead16,)) + size.to_bytes(2, "big")
    return bytes((lead32,)) + size.to_bytes(4, "big")


def _integer(value: int) -> bytes:
    if -32 <= value < 128:
        return (value & 0xFF).to_bytes(1, "big")
    if value >= 0:
        for lead, width in ((0xCC, 1), (0xCD, 2), (0xCE, 4)):
            if value < 1 << 8 * width:
                return bytes((lead,)) + value.to_bytes(width, "big")
        return b"\xcf" + value.to_bytes(8, "big")
    for lead, width in ((0xD0, 1), (0xD1, 2), (0xD2, 4)):
        if value >= -1 << 8 * width - 1:
            return bytes((lead,)) + value.to_bytes(width, "big", signed=True)
    return b"\xd3" + value.to_bytes(8, "big", signed=True)


def frame(tag: str, known: int, fields: "Iterable[tuple[str, Value]]") -> bytes:
    """Return a framed message of kind `tag`, which has `known` fields in all, with those of `fields` present.

    The form of the map's header follows the number of fields that the struct could have, not of those it has.
    """
    body = b""
    count = 1
    for name, value in fields:
        body += pack(name) + pack(value)
        count += 1
    head = bytes((0x80 | count,)) if known < 15 else b"\xde" + count.to_bytes(2, "big")
    payload = head + b"\xa4type" + pack(tag) + body
    return len(payload).to_bytes(4, "big") + payload


def read(payload: bytes) -> dict[bytes, bytes | int]:
    """Return the flat map in `payload`, texts as UTF-8 bytes. Raises ValueError on anything else."""
    reader = _Reader(payload)
    try:
        found = {reader.text(): reader.value() for _ in range(reader.map_size())}
    except IndexError as error:
        raise ValueError("cut short") from error
    if reader.at != len(payload):
        raise ValueError("wrong length")
    return found


class _Reader:
    def __init__(self, payload: bytes) -> None:
        self.payload = payload
        self.at = 0

    def number(self, width: int) -> int:
        self.at += width
        if self.at > len(self.payload):
            raise ValueError("cut short")
        return int.from_bytes(self.payload[self.at - width : self.at], "big")

    def map_size(self) -> int:
        lead = self.number(1)
        if 0x80 <= lead < 0x90:
            return lead & 15
        if lead == 0xDE:
            return self.number(2)
        raise ValueError("not a map")

    def text(self) -> bytes:
        value = self.value()
        if not isinstance(value, bytes):
            raise ValueError("not a text")
        return value

    def value(self) -> bytes | int:
        lead = self.number(1)
        if lead < 0x80:
            return lead
        if 0xA0 <= lead < 0xC0:
            size = lead & 31
        elif lead in (0xC2, 0xC3):
            return lead == 0xC3
        elif 0xCC <= lead <= 0xCF:
            return self.number(1 << lead - 0xCC)
        elif lead in (0xD9, 0xDA, 0xDB):
            size = self.number(1 << lead - 0xD9)
        else:
            raise ValueError(f"a form that no reply of ours has: 0x{lead:02x}")
        self.at += size
        if self.at > len(self.payload):
            raise ValueError("cut short")
        return self.payload[self.at - size : self.at]
