"""The words of SQL that its reader looks for, over lower-case text unless said otherwise. Pure; values only."""

from __future__ import annotations

import re

PART = rb"(?:\"[^\"\n]{1,128}\"|`[^`\n]{1,128}`|\[[^\]\n]{1,128}\]|[\w@#&{}\x80-\xff][\w@#$&{}\x80-\xff]*+)"
NAME = PART + rb"(?:\s*\.\s*" + PART + rb"){0,3}+"
CREATE = re.compile(
    rb"\bcreate\s+(?:or\s+(?:replace|alter)\s+)?(?:[a-z_]+\s*=\s*\S+\s+|(?!on\b|as\b)[a-z_]+\s+){0,6}?"
    rb"(?P<type>table|view|function|procedure|proc|trigger|index|type(?:\s+body)?|domain|sequence|schema|database"
    rb"|package(?:\s+body)?|aggregate|operator|policy|rule|event|extension|synonym|macro)"
    rb"(?:\s+if\s+not\s+exists|\s+concurrently)*\s+(?!on\s|if\s|class\s|family\s)(?P<name>" + NAME + rb")"
)
ALTER = re.compile(
    rb"\balter\s+table\s+(?:only\s+|if\s+exists\s+)*(?P<table>" + NAME + rb")\s+add\s+"
    rb"(?!(?:constraint|primary|foreign|unique|check|index|key|fulltext|spatial|default|partition)\b)"
    rb"(?:column\s+)?(?:if\s+not\s+exists\s+)?\(?\s*(?P<name>" + PART + rb")\s+[a-z]"
)
KINDS = {
    b"table": "struct",
    b"view": "struct",
    b"type": "type",
    b"domain": "type",
    b"synonym": "type",
    b"schema": "module",
    b"database": "module",
    b"package": "module",
    b"index": "variable",
    b"sequence": "variable",
    b"policy": "variable",
    b"rule": "variable",
    b"macro": "macro",
}
ROUTINES = frozenset({b"function", b"procedure", b"proc", b"trigger", b"event", b"package", b"aggregate", b"macro"})
# Their signature ends where their body begins.
BODIES = ROUTINES | {b"view"}
OPENING = re.compile(rb"(?:as|is)?\s*(?:\$\w*\$)?\s*(?P<doc>(?:--[^\n]*\n\s*)+|/\*.*?\*/)", re.DOTALL | re.IGNORECASE)
MEMBER = re.compile(rb"^[ \t]*(?:procedure|function)\s+(?P<name>" + PART + rb")", re.MULTILINE)
AS = re.compile(rb"\b(?:as|is|begin|declare|return\s+query)\b|\$|\{")
FIELDS = re.compile(
    rb"\s*(?:as\s+(?:object|table|struct|record)?|under\s+\S+|of\s+\S+|returns\s+\S+\s+table)?\s*\(", re.DOTALL
)
ENUM = re.compile(rb"\s*as\s+enum\s*\(")
MARK = re.compile(rb"[(),]")
COLUMN = re.compile(rb"\s*(?P<name>" + PART + rb")(?=\s+\S|\s*$)")
NO_COLUMNS = frozenset(
    b"primary foreign unique check constraint key index exclude like period fulltext spatial inherits as".split()
)
QUOTED = re.compile(rb"'((?:[^']|'')*)'")
BESIDE = re.compile(rb"[ \t]*,?[ \t]*--[ \t]*([^\n]*)")
NOTE = re.compile(rb"\bcomment\s+'((?:[^']|'')*)'", re.IGNORECASE)
COMMENT_ON = re.compile(
    rb"\bcomment\s+on\s+(?:table|view|materialized\s+view|function|procedure|type|column|index|trigger)\s+"
    rb"(?P<name>" + NAME + rb")[^';]{0,300}?\bis\s+'(?P<text>(?:[^']|'')*)'",
    re.IGNORECASE,
)
ON = re.compile(rb"\bon\s+(?:only\s+)?(?P<name>" + NAME + rb")")
PARENT = re.compile(rb"\b(?:inherits\s*\(\s*|partition\s+of\s+)(?P<name>" + NAME + rb")")
USE = re.compile(
    rb"\b(?:from|join|(?:insert|merge)\s+into|(?<!on )(?<!for )update|references|table)\s+"
    rb"(?:only\s+|if\s+exists\s+|ignore\s+)*(?P<table>"
    + NAME
    + rb")(?!\s*\.)|\b(?:call|exec|perform|execute\s+(?:function|procedure))\s+"
    rb"(?P<run>"
    + NAME
    + rb")|\bon\s+(?P<on>"
    + NAME
    + rb")\s*\(|\b(?:key|index|using)\s+(?!on\b)(?P<none>"
    + NAME
    + rb")"
    rb"|(?<![\w.])(?P<call>" + NAME + rb")\s?(?=\()"
)
QUERY = re.compile(rb"^--[ \t]*name:[ \t]*(?P<name>[\w-]+)", re.MULTILINE)
IMPORT = re.compile(
    rb"^[ \t]*(?:\\ir?|@@?|source|:r)[ \t]*(?P<path>[\w./\\-]+\.(?:sql|psql|ddl|pk[sb]))\b",
    re.MULTILINE | re.IGNORECASE,
)
# Words that a bracket or a name may follow and that name nothing of the user's.
WORDS = frozenset(
    b"""select where and or not in exists values as on using over partition by order group having limit with lateral
    only set case when then else end is null primary foreign key unique check constraint index default returns return
    table view function procedure if while loop for from into join update delete insert references any all some array
    row cast convert coalesce nullif isnull ifnull count sum avg min max now getdate current_timestamp char varchar
    varchar2 nvarchar nchar character varying decimal numeric number float int integer bigint smallint tinyint bit
    time timestamp datetime datetime2 datetimeoffset binary varbinary text enum date interval concat substring trim
    upper lower length len round abs floor ceil replace identity union except intersect between distinct raise
    include dual range to than in temporary temp filter within extract position overlay row_number rank""".split()
)
