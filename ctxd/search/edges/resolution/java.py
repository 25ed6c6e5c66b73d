"""Java, C# and Dart: the type of a variable stands before its name; packages are declared. Pure."""

from __future__ import annotations

import re

from msgspec.structs import replace

from ctxd.search.edges.resolution import other
from ctxd.search.edges.resolution.family import UNKNOWN, Clue

_PACKAGE = re.compile(r"^\s*(?:package|namespace)\s+([\w.]+)", re.MULTILINE)
# Something is declared there, of a type that is no plain name: an array, a number.
_DECLARED = re.compile(r"(?:^|[\s(,;])(?!(?:return|new|throw|case|else|in|is|await|yield|goto)\s)[\w.]+[\w\]>?]\s+$")
_DECLARES = re.compile(r"\s*(?:[=;,):](?!=)|$)")
_ARROW = re.compile(r"[\w\s,]*\)\s*[-=]>")


def package(head: str) -> str:
    """Return the package or namespace that a file declares."""
    match = _PACKAGE.search(head)
    return match.group(1) if match else ""


def read(before: str, after: str) -> Clue | None:
    """Say what a line tells of the variable between `before` and `after`."""
    found = other.typed_before(before, after) or other.assigned(before, after) or other.bound(before, after)
    if found is not None:
        return found
    declared = _DECLARED.search(before) and _DECLARES.match(after)
    return UNKNOWN if declared or ("(" in before and _ARROW.match(after)) else None


JAVA = replace(
    other.FAMILY,
    languages=frozenset({"java"}),
    read=read,
    result=other.result_before,
    package=package,
    selves=frozenset({"this"}),
    supers=frozenset({"super"}),
    fronted=True,
    typed=True,
    shared=False,
    foreign=frozenset(
        """addAll addFirst addLast booleanValue byteValue charAt codePointAt compareTo computeIfAbsent containsAll
        containsKey containsValue doubleValue endsWith entrySet equalsIgnoreCase floatValue forEach getBytes getCause
        getClass getComponentType getDeclaredField getDeclaredFields getKey getMessage getMethod getName getOrDefault
        getSimpleName getTypeName getValue hasNext hashCode indexOf intValue isAssignableFrom isBlank isEmpty
        isInstance isInterface isPresent isPrimitive keySet lastIndexOf longValue newInstance orElse orElseThrow
        ordinal printStackTrace putAll putIfAbsent removeAll removeIf replaceAll retainAll setAccessible shortValue
        startsWith subList toArray toByteArray toLowerCase toString toUpperCase valueOf""".split()  # noqa: SIM905
    ),
)
CSHARP = replace(
    other.FAMILY,
    languages=frozenset({"csharp"}),
    read=read,
    result=other.result_before,
    package=package,
    selves=frozenset({"this"}),
    supers=frozenset({"base"}),
    fronted=True,
    enclosed=True,
    ambient=True,
    shared=False,
    foreign=frozenset(
        """AddDays AddRange AsEnumerable AsReadOnly AsSpan ConfigureAwait ContainsKey CopyTo CreateCommand
        CreateInstance CreateParameter DisposeAsync EndsWith ExecuteNonQuery ExecuteReader ExecuteScalar
        FirstOrDefault ForEach FromResult GetAwaiter GetConstructor GetConstructors GetCustomAttribute
        GetCustomAttributes GetElementType GetEnumerator GetField GetFields GetGenericArguments
        GetGenericTypeDefinition GetHashCode GetInterfaces GetMethod GetMethods GetName GetOrAdd GetParameters
        GetProperties GetProperty GetResult GetType GetValue IndexOf IsAssignableFrom IsDefined IsNullOrEmpty
        IsNullOrWhiteSpace LastIndexOf LastOrDefault MakeGenericMethod MakeGenericType MoveNext NextResult OrderBy
        OrderByDescending ReadAsync ReadLine ReferenceEquals RemoveAll RemoveAt SelectMany SequenceEqual SetValue
        SingleOrDefault StartsWith ThenBy ToArray ToCharArray ToDictionary ToList ToLower ToLowerInvariant ToString
        ToUpper ToUpperInvariant TrimEnd TrimStart TryAdd TryGetValue TryParse TryRemove WhenAll WriteLine""".split()  # noqa: SIM905
    ),
)
DART = replace(other.FAMILY, languages=frozenset({"dart"}), read=read, result=other.result_before, fronted=True)
