"""What the README says is what the program does: commands, options, keys, exit codes, make targets."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from ctxd import guiding
from ctxd.embed import remote
from ctxd.search import guided, run
from ctxd.steer import steering as module
from ctxd.steer.lately import REST_S
from ctxprotocol import errors, settings
from ctxprotocol.providers import KNOWN, Provider

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()
CODE = re.compile(r"```sh\n(.*?)```|`([^`\n]+)`", re.S)


def section(title: str) -> str:
    """Return the text below one `##` heading."""
    return README.split(f"\n## {title}\n")[1].split("\n## ")[0]


def commands() -> dict[str, click.Command]:
    """Return the commands of the client by name."""
    from ctxclient.cli import ctx

    context = click.Context(ctx)
    return {name: command for name in ctx.list_commands(context) if (command := ctx.get_command(context, name))}


def rows(text: str) -> list[list[str]]:
    """Return the cells of a Markdown table's rows, without its head."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_every_command_in_the_readme_exists() -> None:
    """Each `ctx WORD` names a command of the client."""
    code = "\n".join("".join(match) for match in CODE.findall(README))
    written = set(re.findall(r"^ctx ([a-z]+)\b", code, re.M))

    assert len(written) > 10
    assert written <= set(commands())


def test_every_command_is_in_the_readme() -> None:
    """A command that the README does not show is one that nobody finds."""
    shown = section("Use")

    assert not [name for name in commands() if not re.search(rf"\b{name}\b", shown)]


def test_every_option_in_the_readme_exists() -> None:
    """Each `--option` of the README belongs to a command."""
    known = {option for command in commands().values() for each in command.params for option in each.opts}
    written = set(re.findall(r"(--[a-z][a-z-]+)", section("Use")))

    assert written - {"--help"} <= known


def test_configuration_keys_are_the_real_ones_with_their_defaults() -> None:
    """The table has every key, and the default that the code has."""
    from ctxd import config

    table = {row[0].strip("`"): row[1] for row in rows(section("Configuration"))}
    real = config.Config()

    assert set(table) == set(config.KEYS)
    for key, written in table.items():
        value = getattr(real, key.replace(".", "_"))
        if not isinstance(value, tuple):
            assert written == str(value).lower(), key


def test_exit_codes_are_those_of_the_errors() -> None:
    """The table of exit codes covers what the error tree can return."""
    written = {int(row[0]) for row in rows(section("Use"))}

    def codes(kind: type[errors.CtxError]) -> set[int]:
        return {kind.code}.union(*map(codes, kind.__subclasses__()))

    assert codes(errors.CtxError) | {0, 1, 130} == written


@pytest.mark.parametrize("target", sorted(set(re.findall(r"(?:^|`)make ([a-z-]+)", README, re.M))))
def test_every_make_target_in_the_readme_exists(target: str) -> None:
    """Each `make WORD` is a target."""
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.M)


def test_environment_variables_in_the_readme_are_read_somewhere() -> None:
    """A CTX_ variable that the README names occurs in the code."""
    sources = "".join(
        path.read_text()
        for folder in ("ctxclient", "ctxd", "protocol/ctxprotocol")
        for path in (ROOT / folder).rglob("*.py")
    )

    assert not [name for name in set(re.findall(r"\bCTX_[A-Z_]+", README)) if name not in sources]


def test_providers_are_the_known_ones_and_the_table_can_be_used() -> None:
    """The names for each use, in their order, and every key of the example."""
    text = section("Providers").replace("\n", " ")
    embed, llm = re.search(r"Known for vectors: (.*?); for `llm.providers`: (.*?)\.", text).groups()  # type: ignore[union-attr]
    assert {"embed": re.findall(r"`(\w+)`", embed), "llm": re.findall(r"`(\w+)`", llm)} == {
        use: list(names) for use, names in KNOWN.items()
    }
    (table,) = re.findall(r"```toml\n(.*?)```", section("Providers"), re.S)
    uncommented = re.sub(r"^# (.*?)  +(\w+ = \S+) .*$", r"\1\n\2", table, flags=re.M)
    assert len(settings.parse(uncommented, "README.md").embed_providers) == 1
    said = set(re.findall(r"^(\w+) = ", uncommented, re.M))
    assert said == set(Provider.__struct_fields__) - {"price_out"}


def test_figures_of_providers_are_those_of_the_code() -> None:
    """How long a question waits, how long who failed rests, how many places and lines a model is shown."""
    about, steering = (
        section("Providers").replace("\n", " "),
        section("Steering by a language model").replace("\n", " "),
    )

    assert f"waits {remote.QUESTION_S:g} seconds at most" in about
    assert f"none waits for the next {remote.REST_S:g}" in about
    assert f"rests for {REST_S:g} seconds" in steering
    assert (guided.SEEN, run._SHOWN_LINES) == (12, 8)
    assert "at most twelve places" in steering and "up to eight lines" in steering
    assert (guiding._SHARE, module._SHARE) == (0.5, 0.5)
    assert "half of `--timeout` at most" in steering and "at least half of what is left" in steering
