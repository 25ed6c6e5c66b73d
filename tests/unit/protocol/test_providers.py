"""Providers as a person names them: by name, by table; what is refused, and where texts go."""

from __future__ import annotations

import pytest

from ctxprotocol import providers, settings
from ctxprotocol.errors import ConfigInvalid
from ctxprotocol.providers import KINDS, KNOWN, Provider, Use, resolved

HOUSE = 'name = "house", endpoint = "https://llm.example/v1", kind = "openai", model = "m"'


def test_a_name_alone_is_a_provider_with_all_that_is_known_of_it() -> None:
    """And several are an order."""
    config = settings.parse('llm.providers = ["gemini", "ollama"]\nembed.providers = ["voyage"]\n', "c.toml")
    gemini, ollama = (resolved(each, "llm") for each in config.llm_providers)
    (voyage,) = (resolved(each, "embed") for each in config.embed_providers)

    assert (gemini.kind, gemini.host, gemini.keyed, gemini.local) == (
        "gemini",
        "generativelanguage.googleapis.com",
        True,
        False,
    )
    assert (ollama.kind, ollama.host, ollama.keyed, ollama.local) == ("ollama", "127.0.0.1", False, True)
    assert (voyage.model, voyage.endpoint) == ("voyage-code-3", "https://api.voyageai.com/v1")


def test_a_table_says_more() -> None:
    """In both forms that TOML has for a list of tables, beside names."""
    inline = settings.parse(f'llm.providers = [{{ {HOUSE}, price_in = 1 }}, "openai"]\n', "c.toml")
    headed = settings.parse("[[llm.providers]]\n" + HOUSE.replace(", ", "\n") + "\nprice_in = 1\n", "c.toml")

    assert inline.llm_providers[:1] == headed.llm_providers
    house = resolved(headed.llm_providers[0], "llm")
    assert (house.endpoint, house.model, house.price_in, house.price_out) == ("https://llm.example/v1", "m", 1.0, -1.0)
    assert (house.keyed, house.api_key_env) == (False, "")


def test_another_address_does_not_get_the_key_of_the_environment() -> None:
    """Only a variable that is named goes there."""
    moved = Provider(name="openai", endpoint="https://elsewhere.example/v1")
    named = Provider(name="openai", endpoint="https://elsewhere.example/v1", api_key_env="MINE")

    assert resolved(Provider(name="openai"), "llm").api_key_env == "OPENAI_API_KEY"
    assert resolved(moved, "llm").api_key_env == ""
    assert resolved(named, "llm").api_key_env == "MINE"


@pytest.mark.parametrize(
    ("text", "says", "hint"),
    [
        ('["opnai"]', "number 1: unknown provider opnai", "did you mean openai?"),
        ('["zzz"]', "unknown provider zzz", "known: gemini, openai"),
        ('[{ name = "house", endpoint = "https://h.example" }]', "unknown provider house", "needs endpoint and kind"),
        (f'["openai", {{ {HOUSE}, modle = "x" }}]', "number 2: unknown key modle", "did you mean model?"),
        (f"[{{ {HOUSE}, price_in = 'x' }}]", "Expected `float`", "price_in"),
        (f"[{{ {HOUSE}, weight = 9 }}]", "weight is 9", "from 0 to 4"),
        ('[{ model = "m" }]', "name", "it takes name"),
        ("[7]", "is 7", "a name, or a table"),
        ('"openai"', "llm.providers is 'openai'", "a list of names"),
        ('["vllm"]', "vllm needs a model", "model ="),
        ('["openai", "openai"]', "names openai twice", "another name"),
        ('[{ name = "a b" }]', "is no name", "letters"),
        ('[{ name = "openai", kind = "voyage" }]', "kind is 'voyage'", "openai or gemini or ollama"),
        ('[{ name = "openai", endpoint = "http://llm.example/v1" }]', "let others read", "https://"),
        ('[{ name = "openai", endpoint = "http://localhost.example/v1" }]', "let others read", "https://"),
        ('[{ name = "openai", endpoint = "ftp://llm.example" }]', "is no address", "https://host"),
        ('[{ name = "openai", endpoint = "https://u:p@llm.example" }]', "a password", "ctx auth set"),
        ('[{ name = "openai", endpoint = "https://llm.example/v1?key=x" }]', "is no address", "https://host"),
        ('[{ name = "openai", endpoint = "https://llm.example:x/" }]', "endpoint", "https://host"),
        ('[{ name = "openai", endpoint = "https://h\u00f6st.example/v1" }]', "not ASCII", "xn--"),
        ('[{ name = "openai", endpoint = "https://llm.example/v 1" }]', "a blank", "%XX"),
        ('[{ name = "openai", endpoint = "https://llm.example/v1\\n" }]', "a control character", "%XX"),
    ],
)
def test_what_cannot_be_is_refused_with_file_and_key(text: str, says: str, hint: str) -> None:
    """And the nearest name, or what it takes."""
    with pytest.raises(ConfigInvalid) as caught:
        settings.parse(f"llm.providers = {text}\n", "c.toml")
    assert caught.value.message.startswith("c.toml: llm.providers")
    assert says in caught.value.message and hint in caught.value.hint


@pytest.mark.parametrize(
    "endpoint", ["https://a.example/v1?key=sekret", "https://u:sekret@a.example", "https://u:sekret", "sekret \u00f6"]
)
def test_a_key_in_an_address_is_not_repeated(endpoint: str) -> None:
    """What is refused there goes into logs and answers."""
    with pytest.raises(ConfigInvalid) as caught:
        settings.parse(f'llm.providers = [{{ name = "openai", endpoint = "{endpoint}" }}]\n', "c.toml")
    assert "sekret" not in caught.value.message + caught.value.hint
    assert "ctx auth set openai" in caught.value.hint or "ASCII" in caught.value.message


@pytest.mark.parametrize("use", ["embed", "llm"])
def test_what_is_known_holds_to_what_is_demanded(use: Use) -> None:
    """Each name can be used as it is, or says that it needs a model; plain HTTP only to this machine."""
    for name, row in KNOWN[use].items():
        provider = providers.read({"name": name, "model": row.model or "m"}, use, "here")
        target = resolved(provider, use)
        assert target.kind in KINDS[use]
        assert target.endpoint.startswith("https://") != target.local
        assert target.keyed == bool(target.api_key_env)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("embed.spend_cap_usd", "-1"),
        ("embed.spend_cap_usd", "nan"),
        ("embed.spend_cap_usd", "true"),
        ("llm.timeout_s", "0"),
    ],
)
def test_amounts_have_their_range(key: str, value: str) -> None:
    """No number but one that makes sense."""
    with pytest.raises(ConfigInvalid, match=f"{key} is"):
        settings.parse(f"{key} = {value}\n", "c.toml")
    assert settings.parse("embed.spend_cap_usd = 2.5\nllm.timeout_s = 3\n", "c").embed_spend_cap_usd == 2.5


@pytest.mark.parametrize(
    ("host", "here"), [("127.0.0.1", True), ("127.8.0.1", True), ("::1", True), ("localhost", True)]
)
def test_this_machine_is_known_by_its_numbers(host: str, here: bool) -> None:
    """And no other by a name that looks like it."""
    assert providers.is_loopback(host) is here
    assert not any(map(providers.is_loopback, ["10.0.0.1", "localhost.example", "0.0.0.0", "127.0.0.1.example", ""]))
