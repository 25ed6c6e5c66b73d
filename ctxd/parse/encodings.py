"""Bytes of a file -> text, and back. Pure; runs in a parse worker.

Order: a byte order mark; UTF-8 when it is valid; the encoding that the file declares in its first two
lines; UTF-8 with replacement characters when what is wrong looks like cut-off UTF-8; Windows-1252 for
single odd bytes; a detected multi-byte or Cyrillic encoding. Valid UTF-8 wins over a declaration because no
other encoding's text is valid UTF-8 by chance, while stale declarations are common; a declared 7-bit
encoding (ISO-2022-JP) is the exception.
"""

from __future__ import annotations

import codecs
import re

import msgspec

_UTF16 = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
# Formats that may pass for text in their first kilobytes.
_MAGIC = (
    b"%PDF-",
    b"\x89PNG",
    b"GIF8",
    b"PK\x03\x04",
    b"\x1f\x8b",
    b"\xff\xd8\xff",
    b"\x7fELF",
    b"BZh",
    b"\xfd7zXZ",
)
_LOOK_BYTES = 8192
# Control characters that text does not hold; form feed, escape (ISO-2022, terminal captures) and NUL are
# apart.
_CONTROL = re.compile(rb"[\x01-\x07\x0e-\x1a\x1c-\x1f\x7f]")
_CONTROL_SHARE = 0.05

_DECLARED = re.compile(rb"(?:coding|charset)[ \t]*[:=][ \t]*[\"']?([A-Za-z0-9][\w.:-]{1,30})")
# Codecs that are encodings of text and not transformations; by their canonical names.
_KNOWN = re.compile(
    r"cp\d+|iso8859-\d+|iso2022_\w+|shift_jis\w*|euc_\w+|gb\d+|gbk|big5\w*|koi8-\w|mac-\w+|johab|hz|tis-620"
    r"|ptcp154|kz1048|utf-16-[lb]e|latin-1|ascii"
)
_HIGH_RUN = re.compile(rb"[\x80-\xff]+")
# C1 bytes that Windows-1252 uses in prose: euro, ellipsis, quotes, bullet, dashes, trade mark.
_CP1252_MARKS = frozenset(b"\x80\x85\x91\x92\x93\x94\x95\x96\x97\x99")
_SAMPLE_BYTES = 8192
_CANDIDATES = [
    "cp932",
    "euc_jp",
    "gb18030",
    "big5",
    "cp949",
    "cp1251",
    "koi8_r",
    "cp1250",
    "cp1253",
    "cp1252",
]
_VALID = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
    rb"|([\xe0-\xef][\x80-\xbf]|[\xf0-\xf4][\x80-\xbf]{1,2})|([\x80-\xff])"
)


class Decoded(msgspec.Struct, frozen=True):
    """A file's text without byte order mark, its codec, and how many replacement characters it took.

    `encoding` "utf-8-sig", "utf-16-le" and "utf-16-be" mean that the file begins with a mark.
    """

    text: str
    encoding: str
    replaced: int = 0


def is_binary(data: bytes) -> bool:
    """Return whether bytes are no text: a NUL outside marked UTF-16, a known format, control characters."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        # Every second byte of UTF-16 may be 0, a whole character may not: that is UTF-32 or something else.
        return len(data) % 2 == 1 or "\0" in data[:_LOOK_BYTES].decode("utf-16", "replace")
    if b"\0" in data or data.startswith(_MAGIC):
        return True
    head = data[:_LOOK_BYTES]
    return len(_CONTROL.findall(head)) > _CONTROL_SHARE * len(head) + 2


def decode(data: bytes) -> Decoded:
    """Return the text of a file that is not binary; what cannot be decoded is replaced and counted."""
    for mark, name in _UTF16:
        if data.startswith(mark):
            return _replacing(data[2:], name)
    if data.startswith(codecs.BOM_UTF8):
        return _replacing(data[3:], "utf-8", "utf-8-sig")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return _decode_odd(data)
    if "\x1b" in text and (name := declared(data)).startswith("iso2022"):
        return _replacing(data, name)
    return Decoded(text, "utf-8")


def encode(text: str, encoding: str) -> bytes:
    """Return the bytes of the file that `decode` read, as long as nothing was replaced."""
    for mark, name in _UTF16:
        if encoding == name:
            return mark + text.encode(name)
    return text.encode(encoding)


def declared(data: bytes) -> str:
    """Return the codec that the first two lines name (PEP 263, Ruby, Emacs, Vim, XML, CSS); "" if unknown."""
    for line in data[:1024].splitlines()[:2]:
        found = _DECLARED.search(line)
        if found:
            # Emacs appends how lines end.
            label = re.sub(r"-(unix|dos|mac)$", "", found[1].decode("ascii").lower())
            try:
                name = codecs.lookup(label).name
            except LookupError:
                return ""
            return name if _KNOWN.fullmatch(name) else ""
    return ""


def _replacing(data: bytes, codec: str, name: str = "") -> Decoded:
    try:
        return Decoded(data.decode(codec), name or codec)
    except UnicodeDecodeError:
        text = data.decode(codec, "replace")
        return Decoded(text, name or codec, text.count("\ufffd"))


def _decode_odd(data: bytes) -> Decoded:
    """Decode what is not valid UTF-8."""
    name = declared(data)
    if name and name not in ("utf-8", "ascii") and (text := _strictly(data, name)) is not None:
        return Decoded(text, name)
    valid, cut, stray = _evidence(data)
    if valid + cut >= stray:
        return _replacing(data, "utf-8")
    name = "cp1252" if _looks_western(data) else _detected(data)
    for codec in (name, "cp1252"):
        if (text := _strictly(data, codec)) is not None:
            return Decoded(text, codec)
    if name != "cp1252" and (found := _replacing(data, name)).replaced * 20 < stray:
        return found
    # Every byte is a Latin-1 character; its control characters harm nobody.
    return Decoded(data.decode("latin-1"), "latin-1")


def _strictly(data: bytes, codec: str) -> str | None:
    try:
        text = data.decode(codec)
    except (UnicodeDecodeError, LookupError):
        return None
    return text


def _evidence(data: bytes) -> tuple[int, int, int]:
    """Return how many sequences are valid UTF-8, how many are cut off, and how many bytes are neither."""
    valid = cut = stray = 0
    for match in _VALID.finditer(data):
        if match.lastindex is None:
            valid += 1
        elif match.lastindex == 1:
            cut += 1
        else:
            stray += 1
    return valid, cut, stray


def _looks_western(data: bytes) -> bool:
    """Return whether high bytes are single letters within Latin words, not an alphabet of their own."""
    runs = _HIGH_RUN.findall(data[: 1 << 20])
    high = b"".join(runs)
    if len(high) > 2 * len(runs):
        return False
    odd = sum(byte < 0xA0 and byte not in _CP1252_MARKS for byte in high)
    return odd * 8 <= len(high)


def _detected(data: bytes) -> str:
    """Return the codec that fits a sample of the lines with high bytes; Windows-1252 when none does."""
    # Costs 30 ms to load, and few repositories need it.
    from charset_normalizer import from_bytes

    sample = bytearray()
    for line in data.splitlines(keepends=True):
        if not line.isascii():
            sample += line[:1000]
            if len(sample) >= _SAMPLE_BYTES:
                break
    best = from_bytes(bytes(sample), cp_isolation=_CANDIDATES, preemptive_behaviour=False).best()
    return best.encoding if best is not None else "cp1252"
