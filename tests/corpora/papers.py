"""Where schemas, configuration and documents name things, by plain text: line patterns for each. Pure."""

from __future__ import annotations

import re

from tests.corpora import veils
from tests.corpora.keywords import NAME, SPACE, Keywords, lines

_PATH = r"(?:[\w\[\]\"`]+\.)*[\"`\[]?(?P<name>\w+)"


PAPERS: dict[str, Keywords] = {
    "sql": Keywords(
        lines(
            r"[ \t]*(?i:create)[ \t]+(?i:(?:or[ \t]+replace|or[ \t]+alter|temp|temporary|unique|unlogged|"
            r"definer=\S+)[ \t]+)*"
            r"(?i:table|view|function|procedure|trigger|type|sequence|domain|schema|proc)[ \t]+"
            r"(?i:if[ \t]+not[ \t]+exists[ \t]+)?" + _PATH,
        ),
        veils.SQL,
    ),
    "proto": Keywords(lines(SPACE + r"(?:message|enum|service|rpc|oneof)[ \t]+" + NAME + r"[ \t]*[{(]"), veils.C),
    "graphql": Keywords(
        lines(
            r"(?:type|input|interface|enum|union|scalar|query|mutation|fragment|subscription)[ \t]+" + NAME,
            r"directive[ \t]+@" + NAME,
        ),
        veils.HASH_DOCS,
    ),
    "json": Keywords(
        lines(r"[ \t]+\"(?P<name>[^\"\\\n]+)\"[ \t]*:"),
        veils.NOTHING,
        begins=re.compile(r"\s*\{\s*\n"),
        outermost=True,
        table=100,
    ),
    # What every document of Kubernetes has is no name of anything.
    "yaml": Keywords(
        lines(r"(?!(?:apiVersion|kind|metadata|status):)(?P<name>[\w.-]+):(?=[ \t]|$)"), veils.YAML, table=100
    ),
    "toml": Keywords(
        lines(r"\[(?!\[)[ \t]*(?P<name>[^\]\n]+?)[ \t]*\]", r"(?P<name>[\w-]+)[ \t]*="), veils.TOML, table=100
    ),
    "ini": Keywords(lines(r"\[(?P<name>[^\]\n]+)\]", r"(?P<name>[\w.-]+)[ \t]*="), veils.INI, table=100),
    "dotenv": Keywords(lines(r"(?:export[ \t]+)?" + NAME + r"="), veils.INI, table=100),
    "dockerfile": Keywords(
        lines(
            r"(?i:from)[ \t]+[^\n]*?[ \t](?i:as)[ \t]+(?P<name>[\w.-]+)",
            r"ARG[ \t]+" + NAME,
            r"ENV[ \t]+" + NAME,
        ),
        veils.CONTINUED,
    ),
    "make": Keywords(
        lines(
            r"(?P<name>[\w%/-][\w.%/-]*)[ \t]*::?(?![=:])(?![^\n]*=)",
            r"(?:export[ \t]+|override[ \t]+)?" + NAME + r"[ \t]*(?:::?|\?|!)?=",
            r"define[ \t]+" + NAME,
        ),
        veils.MAKE,
    ),
    "cmake": Keywords(
        lines(
            r"[ \t]*(?i:function|macro)[ \t]*\([ \t]*" + NAME,
            r"[ \t]*(?i:add_executable|add_library|add_custom_target|project|option)[ \t]*\(\s*"
            r"(?P<name>\w[\w.:-]*)(?=[\s)])",
        ),
        veils.CMAKE,
    ),
    "hcl": Keywords(
        lines(
            r"(?:resource|data)[ \t]+\"[^\"\n]+\"[ \t]+\"(?P<name>[^\"\n]+)\"",
            r"(?:variable|output|module|provider)[ \t]+\"(?P<name>[^\"\n]+)\"",
        ),
        veils.HCL,
    ),
    "markdown": Keywords(
        lines(r"#{1,6}[ \t]+(?P<name>[^\n]*?\w[^\n]*?)[ \t]*#*[ \t]*$", r"(?P<name>\w[^\n|]*)\n={3,}[ \t]*$"),
        veils.MARKDOWN,
    ),
    "restructuredtext": Keywords(
        lines(r"(?<=\n\n)(?P<name>[\w:`][^\n]*)\n([=\-~^\"'*+#`.])\2{3,}[ \t]*$"), veils.NOTHING
    ),
    "asciidoc": Keywords(lines(r"={1,6}[ \t]+(?P<name>[^\n]*\w[^\n]*)$"), veils.ASCIIDOC),
}  # fmt: skip
