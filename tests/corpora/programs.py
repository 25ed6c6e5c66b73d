"""Where programs define names, by plain text: line patterns for the keywords of each language. Pure.

Nothing here knows a grammar, so that it can be held against one. What no keyword tells is not looked for: calls that
register a handler, members without a word before them.
"""

from __future__ import annotations

import re

from tests.corpora import veils
from tests.corpora.keywords import NAME, SPACE, Keywords, lines

# Words before a keyword: `pub(crate) async`, `export default`, `@objc public`.
_WORDS = r"[ \t]*(?:[@\w]+(?:\([^()\n]*\))?[ \t]+)*?"
_RUST_WORDS = r"[ \t]*(?:(?:pub(?:\([^)\n]*\))?|default|const|async|unsafe|extern|auto)[ \t]+)*"
_ECMA_NAME = r"(?P<name>[A-Za-z_$][\w$]*)"
_EXPORT = r"[ \t]*(?:export[ \t]+)?(?:default[ \t]+)?(?:declare[ \t]+)?"
_ECMA = (
    _EXPORT + r"(?:async[ \t]+)?function(?:[ \t]+|[ \t]*\*[ \t]*)" + _ECMA_NAME,
    _EXPORT + r"(?:abstract[ \t]+)?class[ \t]+(?!extends\b)" + _ECMA_NAME + r"[^\n]*(?:\{|$)",
)
# At the top only: further in they are locals, and `var` in the first column stands in wrappers too. What `require`
# gives is an import.
_VALUES = (
    r"(?:(?:export[ \t]+)?(?:const|let)|export[ \t]+var)[ \t]+" + _ECMA_NAME + r"[ \t]*[=:;](?![ \t]*require\b)",
)
_ASSIGNED = (r"(?:[\w$]+\.)+(?!exports\b)" + _ECMA_NAME + r"[ \t]*=[ \t]*(?:async[ \t]+)?function\b",)
_TYPED = (
    _EXPORT + r"interface[ \t]+" + _ECMA_NAME + r"[^\n(=]*(?:\{|$)",
    _EXPORT + r"type[ \t]+" + _ECMA_NAME + r"[ \t]*(?:<[^\n]*)?(?:=|$)",
    _EXPORT + r"(?:const[ \t]+)?enum[ \t]+" + _ECMA_NAME,
    r"[ \t]+(?:(?:static|public|private|protected|abstract|override|async)[ \t]+)+(?!new\b)" + _ECMA_NAME + r"[ \t]*\(",
)
_TYPESCRIPT = Keywords(lines(*_ECMA, *_VALUES, *_TYPED), veils.ECMA)
_ARGUMENTS = r"\([^;{}()]*(?:\([^;{}()]*\)[^;{}()]*)*\)"
_NO_HEAD = r"(?!(?:else|return|typedef|goto|case|new|throw|delete|using|namespace|if|while|for|switch|do)\b)"
_MACRO = r"[ \t]*#[ \t]*define[ \t]+" + NAME
_C = (
    _MACRO,
    r"(?:typedef[ \t]+)?(?:struct|union|enum)[ \t]+" + NAME + r"\s*\{",
    r"typedef[ \t]+[^;{}()\n]*[\s*]" + NAME + r"[ \t]*;",
    _NO_HEAD + r"(?:[A-Za-z_]\w*[ \t*]+)+" + NAME + r"[ \t]*" + _ARGUMENTS + r"\s*\{",
    # The type stands on the line above.
    r"(?<=[a-z_*]\n)(?!(?:if|while|for|switch)\b)(?P<name>[a-z_]\w*)\([^;{}()]*\)\s*\{",
)
_JVM_WORDS = r"[ \t]*(?:(?:public|private|protected|internal|static|final|abstract|sealed|open|data|inline|value|inner|"
_JVM_WORDS += (
    r"override|suspend|tailrec|operator|infix|external|expect|actual|implicit|lazy|case|non-sealed|strictfp)[ \t]+)*"
)
_SCRIPT = re.compile(r"<script\b[^>]*>(?P<code>.*?)</script>", re.S | re.I)
_CELL = re.compile(
    r'"cell_type":\s*"code"(?:(?!"cell_type")[\s\S])*?"source":\s*\[(?P<code>[\s\S]*?)\n\s*\]', re.MULTILINE
)
_SHARP = (
    r"[ \t]*(?:(?:public|private|protected|internal|static|sealed|abstract|partial|readonly|unsafe|virtual|override|"
)
_SHARP += r"async|extern|new|ref|const|required)[ \t]+)"
# `type nonrec +'a t`, `type ('a, 'b) t`.
_ML_PARAMETERS = r"(?:nonrec[ \t]+)?(?:[+-]?'\w+[ \t]+|\([^()\n]*\)[ \t]*)?"

PROGRAMS: dict[str, Keywords] = {
    "python": Keywords(
        lines(SPACE + r"(?:async[ \t]+)?def[ \t]+" + NAME, SPACE + r"class[ \t]+" + NAME + r"[ \t]*[:(\[]"),
        veils.PYTHON,
    ),
    "javascript": Keywords(lines(*_ECMA, *_VALUES, *_ASSIGNED), veils.ECMA),
    "typescript": _TYPESCRIPT,
    "tsx": _TYPESCRIPT,
    "go": Keywords(
        lines(r"func[ \t]+(?:\([^)\n]*\)[ \t]*)?" + NAME, r"type[ \t]+" + NAME, r"(?:var|const)[ \t]+(?!_\b)" + NAME),
        veils.GO,
    ),
    "c": Keywords(lines(*_C), veils.C),
    "cpp": Keywords(
        lines(
            _MACRO,
            r"[ \t]*(?:class|struct|union)[ \t]+(?:[A-Z_]{3,}[ \t]+)?"
            + NAME
            + r"(?:[ \t]+final)?\s*(?::[^:;][^;{]*)?\{",
            r"[ \t]*enum[ \t]+(?:class[ \t]+|struct[ \t]+)?" + NAME + r"[^;{\n]*\s*\{",
            r"[ \t]*(?:inline[ \t]+)?namespace[ \t]+(?P<name>\w+(?:::\w+)*)\s*\{",
            r"[ \t]*using[ \t]+" + NAME + r"[ \t]*=",
            _NO_HEAD + r"(?:[A-Za-z_][\w:]*(?:<[^<>;\n]*>)?[ \t*&]+)+(?:\w+::)*" + NAME + _ARGUMENTS + r"[^;{}()]*\{",
        ),
        veils.C,
    ),
    "objectivec": Keywords(
        lines(
            _MACRO,
            r"@(?:interface|implementation|protocol)[ \t]+" + NAME + r"(?![^\n]*;)",
            r"[-+][ \t]*\([^)\n]*\)[ \t]*" + NAME,
            r"@property[^;\n]*[\s*]" + NAME + r"[ \t]*;",
            r"typedef[ \t]+NS_(?:ENUM|OPTIONS)[ \t]*\([^,\n]*,[ \t]*" + NAME,
        ),
        veils.C,
    ),
    "rust": Keywords(
        lines(
            _RUST_WORDS + r"fn[ \t]+" + NAME,
            _RUST_WORDS + r"(?:struct|enum|trait|union|mod)[ \t]+" + NAME,
            r"(?:pub(?:\([^)\n]*\))?[ \t]+)?(?:const|static|type)[ \t]+(?!fn\b|unsafe\b|_\b|mut\b)" + NAME,
            SPACE + r"macro_rules![ \t]*" + NAME,
        ),
        veils.RUST,
    ),
    "java": Keywords(
        lines(
            _JVM_WORDS + r"(?:class|@?interface|enum|record)[ \t]+" + NAME + r"\s*(?:[{<(]|extends|implements)",
            r"[ \t]+(?:(?:public|private|protected|static|final|abstract|synchronized|default|native)[ \t]+)+"
            r"(?:<[^>\n]*>[ \t]+)?(?:[\w.<>\[\],?]+[ \t]+)+" + NAME + r"[ \t]*\(",
        ),
        veils.QUOTED_TEXT,
    ),
    "kotlin": Keywords(
        lines(
            _JVM_WORDS + r"fun[ \t]+(?:<[^\n]*?>[ \t]+)?(?:[\w.<>?*, ]+\.)?(?P<name>\w+)\(",
            _JVM_WORDS + r"(?:enum[ \t]+|annotation[ \t]+|fun[ \t]+)?(?:class|interface)[ \t]+" + NAME,
            _JVM_WORDS + r"object[ \t]+" + NAME,
            r"(?:(?:public|private|internal|const|override)[ \t]+)*(?:val|var)[ \t]+" + NAME + r"[ \t]*[:=]",
            _JVM_WORDS + r"typealias[ \t]+" + NAME,
        ),
        veils.QUOTED_TEXT,
    ),
    "scala": Keywords(
        lines(
            _JVM_WORDS + r"def[ \t]+" + NAME,
            _JVM_WORDS + r"(?:class|trait|object|enum)[ \t]+" + NAME,
            _JVM_WORDS + r"type[ \t]+" + NAME,
        ),
        veils.QUOTED_TEXT,
    ),
    "dart": Keywords(
        lines(
            r"(?:(?:abstract|base|final|sealed|interface|mixin)[ \t]+)*class[ \t]+" + _ECMA_NAME,
            r"(?:base[ \t]+)?mixin[ \t]+(?!class\b)" + _ECMA_NAME,
            r"(?:enum|typedef|extension(?:[ \t]+type)?)[ \t]+(?!on\b|type\b)" + _ECMA_NAME + r"[^(\n]*[{=]",
            r"(?:  )?"
            + _NO_HEAD
            + r"(?:[\w<>?,.]+[ \t]+)+(?:get[ \t]+)?(?!get\b)"
            + _ECMA_NAME
            + _ARGUMENTS
            + r"[ \t]*(?:a?sync\*?[ \t]*)?(?:\{|=>)",
        ),
        veils.DART,
    ),
    "csharp": Keywords(
        lines(
            _SHARP
            + r"*(?:class|struct|interface|enum|record(?:[ \t]+struct|[ \t]+class)?)[ \t]+(?!struct\b|class\b)"
            + NAME,
            _SHARP + r"+(?!class\b|delegate\b)(?:(?!new\b)[\w.<>\[\],?()]+[ \t]+)+" + NAME + r"(?:<[^>\n]*>)?\(",
            _SHARP + r"+(?!class\b)(?:[\w.<>\[\],?]+[ \t]+)+" + NAME + r"[ \t]*\{[ \t]*(?:get|set|init)\b",
        ),
        veils.SHARP,
    ),
    "ruby": Keywords(
        lines(
            r"[ \t]*(?:(?:private|protected|public|private_class_method|module_function)[ \t]+)?def[ \t]+(?:\w+\.)?"
            r"(?P<name>[A-Za-z_]\w*[?!=]?)(?![.\w])",
            r"[ \t]*(?:class|module)[ \t]+(?P<name>[A-Z]\w*(?:::\w+)*)",
        ),
        veils.RUBY,
    ),
    "php": Keywords(
        lines(
            r"[ \t]*(?:(?:public|private|protected|static|final|abstract)[ \t]+)*function[ \t]+&?" + NAME,
            r"[ \t]*(?:(?:final|abstract|readonly)[ \t]+)*(?:class|interface|trait|enum)[ \t]+" + NAME,
        ),
        veils.PHP,
    ),
    "swift": Keywords(
        lines(
            _WORDS + r"func[ \t]+" + NAME,
            _WORDS
            + r"(?:class|struct|enum|protocol|actor)[ \t]+(?!func\b|var\b|let\b|subscript\b|override\b)"
            + NAME
            + r"[^\n(=]*\{",
            _WORDS + r"(?:typealias|associatedtype)[ \t]+" + NAME,
        ),
        veils.QUOTED_TEXT,
    ),
    "lua": Keywords(
        lines(
            r"[ \t]*(?:local[ \t]+)?function[ \t]+(?:[\w.]+[.:])?" + NAME + r"[ \t]*\(",
            r"(?:local[ \t]+)?(?:\w+\.)*" + NAME + r"[ \t]*=[ \t]*function\b",
        ),
        veils.LUA,
    ),
    "bash": Keywords(
        lines(
            r"[ \t]*(?:function[ \t]+)?(?P<name>[\w:.-]+)[ \t]*\([ \t]*\)",
            r"[ \t]*function[ \t]+(?P<name>[\w:.-]+)[ \t]*\{",
            r"[ \t]*@test[ \t]+[\"'](?P<name>[^\n]*)[\"'][ \t]*\{",
        ),
        veils.SHELL,
    ),
    "elixir": Keywords(
        lines(
            r"[ \t]*(?:def|defp|defmacro|defmacrop|defguard|defguardp|defdelegate)[ \t]+(?!unquote\b)"
            r"(?P<name>[a-z_]\w*[?!]?)",
            r"[ \t]*(?:defmodule|defprotocol)[ \t]+(?P<name>[A-Z]\w*(?:\.\w+)*)",
        ),
        veils.ELIXIR,
        joined=True,
    ),
    "haskell": Keywords(
        lines(
            r"(?:data|newtype|type|class)[ \t]+(?:family[ \t]+)?(?!instance\b|role\b)"
            r"(?:\([^)\n]*\)[ \t]*=>[ \t]*|\w+ \w+[ \t]*=>[ \t]*)?(?P<name>[A-Z][\w']*)",
            r"(?P<name>[a-z_][\w']*)[ \t]*::",
        ),
        veils.HASKELL,
    ),
    "zig": Keywords(
        lines(
            _WORDS + r"fn[ \t]+" + NAME,
            r"(?:pub[ \t]+)?(?:const|var)[ \t]+(?!_\b)" + NAME + r"(?![^\n]*@import)",
            r"[ \t]+pub[ \t]+const[ \t]+" + NAME + r"(?![^\n]*@import)",
        ),
        veils.ZIG,
    ),
    "r": Keywords(lines(r"(?P<name>[A-Za-z.][\w.]*)[ \t]*(?:<-|=)[ \t]*function\b"), veils.HASH),
    "julia": Keywords(
        lines(
            r"[ \t]*(?:@\w+[ \t]+)*function[ \t]+(?:\w+\.)*(?P<name>[A-Za-z_]\w*!?)[({]",
            r"[ \t]*macro[ \t]+(?P<name>\w+!?)\(",
            r"[ \t]*(?:@\w+[ \t]+)*(?:mutable[ \t]+)?struct[ \t]+" + NAME,
            r"[ \t]*(?:abstract|primitive)[ \t]+type[ \t]+" + NAME,
            r"(?:@\w+[ \t]+)*(?:\w+\.)*(?P<name>[A-Za-z_]\w*!?)\([^()\n]*\)[ \t]*=(?!=)",
            r"(?:const)[ \t]+" + NAME + r"[ \t]*=",
        ),
        veils.JULIA,
    ),
    "perl": Keywords(lines(SPACE + r"sub[ \t]+" + NAME, r"package[ \t]+(?P<name>\w+(?:::\w+)*)"), veils.PERL),
    "ocaml": Keywords(
        lines(
            r"let[ \t]+(?:rec[ \t]+)?(?:inline[ \t]+)?"
            r"(?!open\b|module\b|rec\b|_\b|exception\b)(?P<name>[a-z_][\w']*)",
            r"[ \t]*(?:type|and)[ \t]+" + _ML_PARAMETERS + r"(?P<name>[a-z_][\w']*)[ \t]*=",
            r"[ \t]*module[ \t]+(?:rec[ \t]+)?(?:type[ \t]+)?(?!type\b|rec\b|_\b)"
            r"(?P<name>[A-Z][\w']*)[^\n]*[ \t](?:=|:|struct)",
            r"[ \t]*exception[ \t]+(?P<name>[A-Z]\w*)",
        ),
        veils.OCAML,
    ),
    "ocaml_interface": Keywords(
        lines(
            r"[ \t]*(?:val|external)[ \t]+(?P<name>[a-z_][\w']*)",
            r"[ \t]*type[ \t]+" + _ML_PARAMETERS + r"(?P<name>[a-z_][\w']*)",
            r"[ \t]*module[ \t]+(?:type[ \t]+)?(?!type\b|rec\b)(?P<name>[A-Z][\w']*)",
            r"[ \t]*exception[ \t]+(?P<name>[A-Z]\w*)",
        ),
        veils.OCAML,
    ),
    "html": Keywords(lines(*_ECMA), veils.ECMA, within=_SCRIPT),
    "vue": Keywords(lines(*_ECMA, *_VALUES, *_TYPED[:3]), veils.ECMA, within=_SCRIPT),
    "svelte": Keywords(lines(*_ECMA, *(r"\t?" + one for one in _VALUES), *_TYPED[:3]), veils.ECMA, within=_SCRIPT),
    "jupyter": Keywords(
        lines(SPACE + r"\"[ ]*(?:async[ ]+)?(?:def|class)[ ]+" + NAME + r"[^\n\"]*:(?:\\n|\")"),
        veils.NOTHING,
        within=_CELL,
    ),
}
