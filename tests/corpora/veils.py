"""What a text search must not look at: comments, strings, here-documents of each family of languages. Pure.

Each is one pattern that matches them from left to right, so that a quote in a comment opens no string. What does not
nest here nests in some languages: a simple search knows no better. What the group `kept` matches at the beginning is
left as it is: strings that may be names, the head of what is hidden.
"""

from __future__ import annotations

import re


def _veil(*parts: str) -> re.Pattern[str]:
    return re.compile("|".join(parts), re.MULTILINE)


def hide(text: str, veil: re.Pattern[str]) -> str:
    """Return the text with spaces for what the veil matches, every character and line where it was."""
    return veil.sub(_blank, text)


def _blank(match: re.Match[str]) -> str:
    kept = match.groupdict().get("kept") or ""
    return kept + _NOT_NEWLINE.sub(" ", match.group()[len(kept) :])


_NOT_NEWLINE = re.compile(r"[^\n]")
_SLASHES = r"//[^\n]*"
_BLOCK = r"/\*(?:(?!\*/)[\s\S])*(?:\*/|\Z)"
_HASH = r"#[^\n]*"
# A comment where `#` may also stand inside a word.
_HASH_APART = r"(?<![^\s;(){}])#[^\n]*"
_DOUBLE = r'"(?:[^"\\\n]|\\[\s\S])*"'
_SINGLE = r"'(?:[^'\\\n]|\\[\s\S])*'"
_KEPT = r"(?P<kept>" + _DOUBLE + r"|" + _SINGLE + r")"
_LONG_DOUBLE = r'"(?:[^"\\]|\\[\s\S])*"'
_LONG_SINGLE = r"'(?:[^'\\]|\\[\s\S])*'"
# One character; the mark is also part of names and of lifetimes.
_CHARACTER = r"(?<!\w)'(?:[^'\\\n]|\\[^\n']{1,10}|\\')'"
_THREE = r'"""(?:(?!""")(?:[^\\]|\\[\s\S]))*(?:"""|\Z)'
_RAW_THREE = r'"""(?:(?!""")[\s\S])*(?:"+|\Z)'
_THREE_SINGLE = r"'''(?:(?!''')(?:[^\\]|\\[\s\S]))*(?:'''|\Z)"
_HEREDOC = r"<<[-~]?[ ]?(?P<q>[\"'\\]?)(?P<word>[A-Za-z_]\w*)(?P=q)?[^\n]*\n(?:(?![ \t]*(?P=word)\b)[^\n]*\n)*"
# The lines that a backslash continues.
_CONTINUATION = r"(?<=\\\n)[^\n]*"

NOTHING = re.compile(r"(?!)")
# Rows of a macro's text define nothing until it is used.
C = _veil(_SLASHES, _BLOCK, r'R"(?P<raw>\w*)\((?:(?!\)(?P=raw)")[\s\S])*\)(?P=raw)"', _DOUBLE,
          r"(?<!\w)'(?:[^'\\\n]|\\[\s\S])+'", _CONTINUATION)  # fmt: skip
ECMA = _veil(_SLASHES, _BLOCK, _DOUBLE, _SINGLE, r"`(?:[^`\\]|\\[\s\S])*`")
GO = _veil(_SLASHES, _BLOCK, _DOUBLE, r"'(?:[^'\\\n]|\\[^\n])+'", r"`[^`]*`")
RUST = _veil(_SLASHES, _BLOCK, r'\br(?P<marks>#+)"(?:(?!"(?P=marks))[\s\S])*"(?P=marks)', _LONG_DOUBLE, _CHARACTER)
QUOTED_TEXT = _veil(_SLASHES, _BLOCK, _RAW_THREE, _DOUBLE, _CHARACTER)
DART = _veil(_SLASHES, _BLOCK, _RAW_THREE, r"'''(?:(?!''')[\s\S])*'''", _DOUBLE, _SINGLE)
SHARP = _veil(_SLASHES, _BLOCK, _RAW_THREE, r'(?:@\$?|\$@)"(?:[^"]|"")*"', _DOUBLE, _SINGLE)
PYTHON = _veil(_HASH, _THREE, _THREE_SINGLE, _DOUBLE, _SINGLE)
RUBY = _veil(r"^=begin\b(?:(?!^=end)[\s\S])*(?:^=end|\Z)", r"^__END__$[\s\S]*", _HASH_APART, _HEREDOC, _DOUBLE, _SINGLE)
PHP = _veil(_SLASHES, r"#(?!\[)[^\n]*", _BLOCK,
            r"<<<[ \t]*[\"']?(?P<word>\w+)[\"']?[^\n]*\n(?:(?![ \t]*(?P=word)\b)[^\n]*\n)*",
            _LONG_DOUBLE, _LONG_SINGLE)  # fmt: skip
LUA = _veil(r"--\[(?P<deep>=*)\[(?:(?!\](?P=deep)\])[\s\S])*(?:\](?P=deep)\]|\Z)", r"--[^\n]*",
            r"\[(?P<level>=*)\[(?:(?!\](?P=level)\])[\s\S])*(?:\](?P=level)\]|\Z)", _DOUBLE, _SINGLE)  # fmt: skip
SHELL = _veil(_HASH_APART, r"(?P<kept>^[ \t]*@test[^\n]*$)", r"\\[\s\S]", r"\$'(?:[^'\\]|\\[\s\S])*'", r"'[^']*'",
              _LONG_DOUBLE, r"(?<!<)" + _HEREDOC)  # fmt: skip
ELIXIR = _veil(_HASH_APART, _THREE, _THREE_SINGLE, _DOUBLE, r"\?[\"']")
HASKELL = _veil(r"--+(?![!#$%&*+./<=>?@\\^|~:])[^\n]*", r"\{-(?:(?!-\})[\s\S])*(?:-\}|\Z)", _DOUBLE,
                r"\[\w*\|(?:(?!\|\])[\s\S])*\|\]", _CHARACTER, r"^\\begin\b[^\n]*")  # fmt: skip
ZIG = _veil(r"^[ \t]*\\\\[^\n]*", _SLASHES, _DOUBLE, _SINGLE)
HASH = _veil(_HASH, _LONG_DOUBLE, _LONG_SINGLE)
HASH_DOCS = _veil(_HASH, _THREE, _DOUBLE)
JULIA = _veil(r"#=(?:(?!=#)[\s\S])*(?:=#|\Z)", _HASH, _THREE, _LONG_DOUBLE, r"```[\s\S]*?```", r"`[^`\n]*`", _CHARACTER)
PERL = _veil(r"^=[a-z]\w*\b(?:(?!^=cut\b)[\s\S])*(?:^=cut[^\n]*|\Z)", r"^__(?:END|DATA)__$[\s\S]*", _HASH_APART,
             _HEREDOC, _DOUBLE, _SINGLE)  # fmt: skip
OCAML = _veil(r"\(\*(?!\))(?:\(\*(?:(?!\*\))[\s\S])*\*\)|(?!\*\))[\s\S])*(?:\*\)|\Z)",
              r"\{(?P<tag>[a-z_]*)\|(?:(?!\|(?P=tag)\})[\s\S])*\|(?P=tag)\}",
              _LONG_DOUBLE, _CHARACTER)  # fmt: skip
SQL = _veil(r"--[^\n]*", _BLOCK, r"(?P<tag>\$\w*\$)(?:(?!(?P=tag))[\s\S])*(?P=tag)", r"'(?:[^']|'')*'")
YAML = _veil(_HASH_APART, r"^(?:---|\.\.\.)[^\n]*")
TOML = _veil(_HASH_APART, r'"""[\s\S]*?"""', r"'''[\s\S]*?'''", _DOUBLE)
INI = _veil(r"^[ \t]*[#;!][^\n]*", _CONTINUATION)
CONTINUED = _veil(r"^[ \t]*#[^\n]*", _CONTINUATION, r"(?<!<)" + _HEREDOC)
MAKE = _veil(_HASH_APART, r"(?P<kept>^define\b[^\n]*)\n(?:(?!endef)[^\n]*\n)*", r"^\t[^\n]*", _CONTINUATION)
CMAKE = _veil(r"#?\[(?P<level>=*)\[(?:(?!\](?P=level)\])[\s\S])*\](?P=level)\]", _HASH, _LONG_DOUBLE)
HCL = _veil(_HASH_APART, _SLASHES, _BLOCK, _KEPT, _HEREDOC)
_FENCE = r"^[ ]{0,3}(?:[-*+>] ?)*(?P<fence>`{3,}|~{3,})[^\n]*\n(?:(?![ \t>]*(?P=fence))[^\n]*(?:\n|\Z))*(?:[^\n]*)"
MARKDOWN = _veil(r"\A---\n(?:(?!---\n)[^\n]*\n)*---\n", _FENCE, r"<!--(?:(?!-->)[\s\S])*(?:-->|\Z)")
ASCIIDOC = _veil(r"^(?P<mark>-{4,}|\.{4,}|/{4,}|\+{4,})[ \t]*\n(?:(?!(?P=mark)[ \t]*$)[^\n]*(?:\n|\Z))*(?:[^\n]*)",
                 r"^```[^\n]*\n(?:(?!```)[^\n]*(?:\n|\Z))*(?:[^\n]*)", r"^//[^\n]*")  # fmt: skip
