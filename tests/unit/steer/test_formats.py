"""The three wire formats: requests as the providers document them, and replies that do not count."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ctxd.steer import decompose, formats, schema, summarize
from ctxd.steer.formats import Unfit
from ctxprotocol.providers import Provider, Target, resolved

ASK = decompose.ask("where is the pool", decompose.Facts(("python",), ("src",)))
WIRES = ("gemini", "openai", "ollama")


def target(name: str, model: str = "m-1") -> Target:
    return resolved(Provider(name=name, model=model), "llm")


def sent(name: str, model: str = "m-1", *, strict: bool = True) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(formats.payload(target(name, model), ASK, strict=strict))
    return found


def keys(node: Any) -> set[str]:
    """Return every key of a schema that is no name of a property."""
    if isinstance(node, list):
        return set().union(*map(keys, node)) if node else set()
    if not isinstance(node, dict):
        return set()
    own = set(node)
    for key, value in node.items():
        own |= set().union(*map(keys, value.values())) if key == "properties" else keys(value)
    return own


@pytest.mark.parametrize("reply", [decompose.ask("", decompose.Facts()).reply, summarize.ask("", ()).reply])
def test_a_schema_has_what_each_provider_takes(reply: Any) -> None:
    """Plain and without references; closed for OpenAI, where every property is required; without that word for
    Gemini.
    """
    closed = schema.of(reply, closed=True, bounded=False)

    assert keys(closed) <= {"type", "enum", "properties", "required", "items", "additionalProperties"}
    assert closed["additionalProperties"] is False
    item = next(each["items"] for each in closed["properties"].values() if each["items"].get("properties"))
    assert set(item["required"]) == set(item["properties"]) and item["additionalProperties"] is False
    assert "additionalProperties" not in keys(schema.of(reply, closed=False, bounded=True))


def test_gemini_is_asked_as_documented() -> None:
    """generateContent of the model, JSON by a response schema, temperature 0, no thinking where it can be forbidden."""
    body = sent("gemini")

    assert formats.path(target("gemini", "models/a b")) == "/models/a%20b:generateContent"
    wanted = body["generationConfig"]
    assert (wanted["responseMimeType"], wanted["temperature"]) == ("application/json", 0)
    assert wanted["responseSchema"]["properties"]["queries"]["maxItems"] == decompose.MOST_QUERIES
    assert "thinkingConfig" not in wanted
    flash = sent("gemini", "gemini-2.5-flash")["generationConfig"]
    assert flash["thinkingConfig"] == {"thinkingBudget": 0}


def test_openai_is_asked_as_documented() -> None:
    """chat/completions with a strict schema; without one the schema stands in the instruction."""
    body, plain = sent("openai"), sent("vllm", strict=False)

    assert formats.path(target("openai")) == "/chat/completions"
    assert body["response_format"]["type"] == "json_schema" and body["response_format"]["json_schema"]["strict"]
    assert body["temperature"] == 0 and body["max_completion_tokens"] and plain["max_tokens"]
    assert plain["response_format"] == {"type": "json_object"}
    assert '"additionalProperties":false' in plain["messages"][0]["content"]


def test_ollama_is_asked_as_documented() -> None:
    """api/chat with the schema as format, not streamed, in a window that holds the question."""
    body = sent("ollama")

    assert formats.path(target("ollama")) == "/api/chat"
    assert body["format"]["type"] == "object" and body["stream"] is False
    assert body["options"]["temperature"] == 0 and body["options"]["num_ctx"] >= 8_192
    assert sent("ollama", strict=False)["format"] == "json"


def openai(message: Any, reason: str = "stop", **more: Any) -> Any:
    return {"choices": [{"index": 0, "message": message, "finish_reason": reason}], **more}


def gemini(reason: str = "STOP", **more: Any) -> Any:
    return {"candidates": [{"content": {"parts": [{"text": "{}"}]}, "finishReason": reason}], **more}


@pytest.mark.parametrize(
    ("kind", "body", "trouble"),
    [
        ("openai", openai({"role": "assistant", "content": None, "refusal": "I cannot"}), formats.REFUSED),
        ("openai", openai({"content": "{}"}, "content_filter"), "filter"),
        ("openai", openai({"content": '{"queries"'}, "length"), "cut short"),
        ("gemini", {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}, "filter"),
        ("gemini", {"candidates": [{"finishReason": "SAFETY", "index": 0}]}, "filter"),
        ("gemini", gemini("RECITATION"), "filter"),
        ("gemini", gemini("MAX_TOKENS"), "cut short"),
        ("ollama", {"message": {"content": "{"}, "done": False}, "cut short"),
        ("ollama", {"message": {"content": "{"}, "done": True, "done_reason": "length"}, "cut short"),
    ],
)
def test_a_reply_that_was_not_said_to_its_end_does_not_count(kind: Any, body: Any, trouble: str) -> None:
    """Refused, filtered, cut short: each is told, in words of ours."""
    assert trouble in formats.read(kind, json.dumps(body).encode()).trouble


@pytest.mark.parametrize("kind", WIRES)
@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"[]", b"null", b"{}", b'{"choices": []}', b'{"message": 7}', b'{"a":' + b"[" * 100_000]
)
def test_what_is_no_envelope_is_unfit(kind: Any, body: bytes) -> None:
    """An error page, another service, nothing, a bomb."""
    with pytest.raises(Unfit):
        formats.read(kind, body)


def test_usage_is_what_is_paid_for() -> None:
    """Thoughts of Gemini count as received and are no text; without usage nothing is known."""
    parts = [{"text": "hm", "thought": True}, {"text": "{"}, {"text": "}"}]
    usage = {"promptTokenCount": 90, "candidatesTokenCount": 7, "thoughtsTokenCount": 30}
    body = {"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}], "usageMetadata": usage}

    said = formats.read("gemini", json.dumps(body).encode())
    assert (said.text, said.sent_tokens, said.received_tokens) == ("{}", 90, 37)
    bare = formats.read("openai", json.dumps(openai({"content": "{}"})).encode())
    assert (bare.sent_tokens, bare.received_tokens) == (-1, -1)
