"""The wire formats of language models: what is sent, and what comes back. Pure.

A reply is taken for what the model said only when it said it to its end: one that was refused, filtered or cut short is
Unfit, however much of it there is.
"""

from __future__ import annotations

from typing import Any, TypeVar
from urllib.parse import quote

import msgspec

from ctxd.steer import schema
from ctxprotocol.providers import Target, Wire

# A local model's own window is smaller in many cases, and it would forget the beginning without a word.
_WINDOW = 8_192

Envelope = TypeVar("Envelope", bound=msgspec.Struct)


class Ask(msgspec.Struct, frozen=True):
    """What a model is asked: `instruction` is ours, `data` is JSON that it must not take for one.

    `reply` is the shape of the answer, `most_tokens` bounds it.
    """

    instruction: str
    data: str
    reply: type[msgspec.Struct]
    most_tokens: int


class Said(msgspec.Struct, frozen=True):
    """What came back: the text, or why there is none that counts. Tokens are -1 where nothing was said of them.

    `trouble` is "refused" when the model would not, else a sentence's end.
    """

    text: str
    sent_tokens: int = -1
    received_tokens: int = -1
    trouble: str = ""


class Unfit(Exception):
    """What a model said cannot be used. `lasting`: asking it something else would hardly go better."""

    def __init__(self, message: str, *, lasting: bool = True) -> None:
        super().__init__(message)
        self.message = message
        self.lasting = lasting


REFUSED = "the model would not answer"
_CUT = "the reply was cut short"
_FILTERED = "the provider's filter kept the reply back"


def path(target: Target) -> str:
    """Return where below its endpoint a target is asked."""
    match target.kind:
        case "gemini":
            return f"/models/{quote(target.model.removeprefix('models/'), safe='')}:generateContent"
        case "ollama":
            return "/api/chat"
        case _:
            return "/chat/completions"


def payload(target: Target, ask: Ask, *, strict: bool) -> bytes:
    """Return what a target is sent; not `strict`: its schema is in the instruction alone."""
    kind: Wire = target.kind
    shape = {"gemini": _gemini, "ollama": _ollama}.get(kind, _openai)
    return msgspec.json.encode(shape(target, ask, strict))


def read(kind: Wire, body: bytes) -> Said:
    """Return what a target said. Raises Unfit for what is not its wire format."""
    return {"gemini": _from_gemini, "ollama": _from_ollama}.get(kind, _from_openai)(body)


def _instruction(ask: Ask, strict: bool) -> str:
    if strict:
        return ask.instruction
    shape = msgspec.json.encode(schema.of(ask.reply, closed=True, bounded=True)).decode()
    return f"{ask.instruction}\nThe reply is one JSON object of this schema, and nothing else: {shape}"


def _messages(ask: Ask, strict: bool) -> list[dict[str, str]]:
    return [{"role": "system", "content": _instruction(ask, strict)}, {"role": "user", "content": ask.data}]


def _openai(target: Target, ask: Ask, strict: bool) -> dict[str, Any]:
    wanted = {"name": "reply", "strict": True, "schema": schema.of(ask.reply, closed=True, bounded=False)}
    # Newer models of OpenAI refuse the older word; older servers do not know the newer one.
    most = "max_completion_tokens" if target.host == "api.openai.com" else "max_tokens"
    return {
        "model": target.model,
        "messages": _messages(ask, strict),
        "temperature": 0,
        most: ask.most_tokens,
        "response_format": {"type": "json_schema", "json_schema": wanted} if strict else {"type": "json_object"},
    }


def _gemini(target: Target, ask: Ask, strict: bool) -> dict[str, Any]:
    wanted: dict[str, Any] = {
        "temperature": 0,
        "maxOutputTokens": ask.most_tokens,
        "responseMimeType": "application/json",
    }
    if strict:
        wanted["responseSchema"] = schema.of(ask.reply, closed=False, bounded=True)
    if target.model.startswith("gemini-2.5-flash"):
        # It would think for seconds first, at our cost; other models refuse to be told.
        wanted["thinkingConfig"] = {"thinkingBudget": 0}
    return {
        "systemInstruction": {"parts": [{"text": _instruction(ask, strict)}]},
        "contents": [{"role": "user", "parts": [{"text": ask.data}]}],
        "generationConfig": wanted,
    }


def _ollama(target: Target, ask: Ask, strict: bool) -> dict[str, Any]:
    return {
        "model": target.model,
        "messages": _messages(ask, strict),
        "stream": False,
        "format": schema.of(ask.reply, closed=True, bounded=True) if strict else "json",
        "options": {"temperature": 0, "num_predict": ask.most_tokens, "num_ctx": _WINDOW},
    }


class _OpenAiMessage(msgspec.Struct):
    content: str | None = None
    refusal: str | None = None


class _OpenAiChoice(msgspec.Struct):
    message: _OpenAiMessage
    finish_reason: str | None = None


class _OpenAiUsage(msgspec.Struct):
    prompt_tokens: int = -1
    completion_tokens: int = -1


class _OpenAiReply(msgspec.Struct):
    choices: list[_OpenAiChoice]
    usage: _OpenAiUsage | None = None


class _GeminiPart(msgspec.Struct):
    text: str = ""
    thought: bool = False


class _GeminiContent(msgspec.Struct):
    parts: list[_GeminiPart] = []


class _GeminiCandidate(msgspec.Struct, rename="camel"):
    content: _GeminiContent | None = None
    finish_reason: str = ""


class _GeminiFeedback(msgspec.Struct, rename="camel"):
    block_reason: str = ""


class _GeminiUsage(msgspec.Struct, rename="camel"):
    prompt_token_count: int = -1
    candidates_token_count: int = 0
    thoughts_token_count: int = 0


class _GeminiReply(msgspec.Struct, rename="camel"):
    candidates: list[_GeminiCandidate] = []
    prompt_feedback: _GeminiFeedback | None = None
    usage_metadata: _GeminiUsage | None = None


class _OllamaReply(msgspec.Struct):
    message: _OpenAiMessage
    done: bool = False
    done_reason: str = ""
    prompt_eval_count: int = 0
    eval_count: int = 0


def _from_openai(body: bytes) -> Said:
    reply = _decoded(body, _OpenAiReply)
    if not reply.choices:
        raise Unfit("the reply holds no choice")
    one, usage = reply.choices[0], reply.usage or _OpenAiUsage()
    text, trouble = one.message.content or "", ""
    if one.message.refusal:
        trouble = REFUSED
    elif one.finish_reason == "content_filter":
        trouble = _FILTERED
    elif one.finish_reason == "length":
        trouble = _CUT
    return Said(text, usage.prompt_tokens, usage.completion_tokens, trouble)


def _from_gemini(body: bytes) -> Said:
    reply = _decoded(body, _GeminiReply)
    usage = reply.usage_metadata or _GeminiUsage(-1, -1)
    sent, received = usage.prompt_token_count, usage.candidates_token_count + usage.thoughts_token_count
    if reply.prompt_feedback is not None and reply.prompt_feedback.block_reason:
        return Said("", sent, received, _FILTERED)
    if not reply.candidates:
        raise Unfit("the reply holds no candidate")
    one = reply.candidates[0]
    parts = one.content.parts if one.content is not None else []
    text = "".join(part.text for part in parts if not part.thought)
    trouble = ""
    if one.finish_reason == "MAX_TOKENS":
        trouble = _CUT
    elif one.finish_reason not in ("STOP", ""):  # SAFETY, RECITATION, BLOCKLIST, ...
        trouble = _FILTERED
    return Said(text, sent, received, trouble)


def _from_ollama(body: bytes) -> Said:
    reply = _decoded(body, _OllamaReply)
    cut = not reply.done or reply.done_reason == "length"
    return Said(reply.message.content or "", reply.prompt_eval_count, reply.eval_count, _CUT if cut else "")


def _decoded(body: bytes, envelope: type[Envelope]) -> Envelope:
    try:
        return msgspec.json.decode(body, type=envelope)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        # What the decoder would say quotes the reply.
        raise Unfit("the reply is not in the provider's wire format") from None
