"""The text search that extraction is held against: each pattern of each language finds what it is for, no comments."""

from __future__ import annotations

from random import Random

import pytest

from tests.corpora.drawing import LANGUAGES, Named, Site, draw, holds, sites

# For each language a line (or a little text) for each of its patterns, in their order; what is defined is called it.
EXAMPLES: dict[str, tuple[str, ...]] = {
    "python": ("    async def it(self):", "class it(Base):"),
    "javascript": (
        "export default async function it(a) {",
        "class it extends Base {",
        "const it = 1",
        "app.it = function (a) {",
    ),
    "typescript": (
        "function* it(a: number) {",
        "export abstract class it<T> {",
        "export const it: number = 1",
        "interface it<T> {",
        "type it<T> = T",
        "export const enum it {",
        "  private async it(a) {",
    ),
    "go": ("func (s *Stack[T]) it(a int) {", "type it struct {", "var it = 1"),
    "c": (
        "# define it 1",
        "typedef struct it {",
        "typedef unsigned int it;",
        "static char *it(int a, void (*f)(int)) {",
        "static int\nit(int a)\n{",
    ),
    "cpp": (
        "#define it 1",
        "class API_EXPORT it final : public Base {",
        "enum class it : int {",
        "namespace it {",
        "using it = int;",
        "std::vector<int> Foo::it(int a) const {",
    ),
    "objectivec": (
        "#define it 1",
        "@implementation it (Category)",
        "- (void)it:(int)a {",
        "@property (nonatomic, copy) NSString *it;",
        "typedef NS_ENUM(NSInteger, it) {",
    ),
    "rust": ("    pub(crate) async fn it<T>() {", "pub enum it {", "pub const it: u8 = 1;", "macro_rules! it {"),
    "java": ("public final class it<T> {", "    public static <T> List<T> it(T a) {"),
    "kotlin": (
        "    suspend fun <T> Flow<T>.it(a: T) {",
        "data class it(val a: Int)",
        "internal object it {",
        "private val it = 1",
        "typealias it = Int",
    ),
    "scala": ("  override def it(a: Int) = 1", "final case class it(a: Int)", "  type it = Int"),
    "dart": (
        "abstract class it {",
        "mixin it on Base {",
        "extension it on String {",
        "  Future<int> it(int a) async {",
    ),
    "csharp": (
        "public sealed record it(int A)",
        "    public static Task<int> it<T>(int a)",
        "    public string it { get; set; }",
    ),
    "ruby": ("  def self.it(a)", "class It < Base"),
    "php": ("    public static function &it($a)", "abstract class it {"),
    "swift": ("    @objc public func it(a: Int) {", "public final class it: Base {", "    typealias it = Int"),
    "lua": ("local function it(a)", "M.it = function(a)"),
    "bash": ("it() {", "function it {", '@test "it" {'),
    "elixir": ("  defp it(a) do", "defmodule A.It do"),
    "haskell": ("newtype Show a => It a = It a", "it :: Int -> Int"),
    "zig": ("pub inline fn it(a: u8) void {", "pub const it = struct {", "    pub const it = 1;"),
    "r": ("it <- function(a) {",),
    "julia": (
        "@inline function Base.it(a)",
        "macro it(a)",
        "mutable struct it",
        "abstract type it end",
        "it(a) = a",
        "const it = 1",
    ),
    "perl": ("sub it {", "package A::It;"),
    "ocaml": ("let rec it a =", "type 'a it = int", "module It = struct", "exception It"),
    "ocaml_interface": ("val it : int", "type ('a, 'b) it", "module type It = sig", "exception It of int"),
    "sql": ('CREATE TABLE IF NOT EXISTS shop."it" (',),
    "html": ("<script>function it() {}</script>", "<script>\nclass it {\n</script>"),
    "vue": (
        "<script setup>\nfunction it() {}\n</script>",
        "<script>\nclass it {}\n</script>",
        "<script>\nconst it = 1\n</script>",
        "<script lang='ts'>\ninterface it {\n</script>",
        "<script>\ntype it = 1\n</script>",
        "<script>\nenum it {\n</script>",
    ),
    "proto": ("  message it {",),
    "graphql": ("type it implements Node {", "directive @it on FIELD"),
    "jupyter": ('"cell_type": "code",\n"source": [\n  "def it(a):\\n",\n ]',),
    "json": ('{\n  "it": 1\n}',),
    "yaml": ("it: 1",),
    "toml": ("[it]", "it = 1"),
    "ini": ("[it]", "it = 1"),
    "dotenv": ("export it=1",),
    "dockerfile": ("FROM python:3.12 AS it", "ARG it=1", "ENV it=1"),
    "make": ("it: other", "it ?= 1", "define it\nrecipe\nendef"),
    "cmake": ("function(it a b)", "add_library(it STATIC a.c)"),
    "hcl": ('resource "aws_vpc" "it" {', 'variable "it" {'),
    "markdown": ("## it ##", "it\n==="),
    "restructuredtext": ("\n\nit is\n-----",),
    "asciidoc": ("== it",),
}
EXAMPLES["tsx"] = EXAMPLES["typescript"]
EXAMPLES["svelte"] = EXAMPLES["vue"]


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_each_pattern_finds_the_definition_in_a_line_of_its_language(language: str) -> None:
    """One example for each, so that none is there that finds nothing; the search as a whole finds it too."""
    patterns = LANGUAGES[language].lines
    assert len(EXAMPLES[language]) == len(patterns)
    for pattern, example in zip(patterns, EXAMPLES[language], strict=True):
        found = pattern.search(example.replace("<script>", "").replace("</script>", ""))
        assert found is not None, (pattern.pattern, example)
        assert found["name"].rpartition("::")[2].rpartition(".")[2] in ("it", "It", "it is"), found
        assert [site.name for site in sites(language, example)] == [found["name"]]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", 's = """\ndef no(): pass\n"""\n# def no(): pass\n'),
        ("c", "/*\nint no(void) {\n*/\n#define TWO \\\nint no(void) {\n"),
        ("ruby", "sql = <<~SQL\n  def no\nSQL\n=begin\ndef no\n=end\n"),
        ("bash", "cat <<'EOF'\nno() {\nEOF\n# no() {\n"),
        ("perl", "=head1 NAME\n\nsub no {\n\n=cut\n"),
        ("rust", 'let s = r#"\nfn no() {"\n"#;\n'),
        ("javascript", "const s = `\nfunction no() {\n`\n"),
        ("ocaml", "(* a (* b *)\nlet no = 1\n*)\n"),
        ("markdown", "```sh\n# no\n```\n<!--\n# no\n-->\n"),
        ("make", "define RULE\nno: x\nendef\n"),
        ("html", "<p>\nfunction no() {\n</p>\n"),
        ("jupyter", '"cell_type": "markdown",\n"source": [\n  "def no(a):\\n",\n ]'),
    ],
)
def test_what_is_no_code_is_not_drawn(language: str, text: str) -> None:
    """Comments, strings, here-documents, the text of macros, prose around scripts."""
    assert "no" not in [site.name for site in sites(language, text)]


def test_rows_of_tables_and_further_clauses_are_not_drawn() -> None:
    """Configuration with more than 100 keys is one chunk on purpose, clauses of one function are one definition."""
    rows = "".join(f"key{n} = 1\n" for n in range(101))
    clauses = "def go(1), do: 1\ndef go(2), do: 2\ndef on(1), do: 1\n"

    assert sites("ini", rows) == [] and len(sites("ini", rows[:-10])) == 100
    assert sites("elixir", clauses) == [Site(1, "go"), Site(3, "on")]
    assert sites("json", '{\n  "a": {\n    "b": 1\n  }\n}') == [Site(2, "a")]
    assert sites("json", '[\n  {\n    "a": 1\n  }\n]') == []


def test_a_symbol_is_right_by_its_name_and_its_line() -> None:
    """Qualified names end with the drawn one; titles are compared by their words."""
    symbol = Named("draw", "Outer.Shape.draw", 3)

    assert holds("cpp", Site(3, "Shape::draw"), [symbol])
    assert not holds("cpp", Site(4, "draw"), [symbol])
    assert not holds("cpp", Site(3, "raw"), [symbol])
    assert holds("markdown", Site(1, "The [`x`](y) *call*"), [Named("The x call", "The x call", 1)])


def test_a_draw_depends_on_its_seed_alone() -> None:
    """Not on the order in which files were read; more than there is are all."""
    found = [("r", f"{n}.py", Site(n, "f")) for n in range(50)]

    assert draw(found, 5, Random(3)) == draw(found[::-1], 5, Random(3)) != draw(found, 5, Random(4))
    assert len(draw(found, 90, Random(1))) == 50
