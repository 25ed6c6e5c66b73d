(call target: (identifier) @_def (arguments . [(alias) @name (dot right: (alias) @name)]) (do_block) @body
  (#eq? @_def "defmodule")) @definition.module
(call target: (identifier) @_def (arguments . (alias) @name) (do_block) @body
  (#eq? @_def "defprotocol")) @definition.interface
(call target: (identifier) @_def (arguments . (alias) @owner (keywords (pair value: [
    (alias) @name
    (list . (alias) @name)]))) (do_block) @body
  (#eq? @_def "defimpl")) @definition.module

(call target: (identifier) @_def (arguments . [
    (identifier) @name
    (call target: (identifier) @name (arguments) @arity)
    (binary_operator left: [
      (identifier) @name
      (call target: (identifier) @name (arguments) @arity)] operator: "when")]
    (keywords)? @body) (do_block)? @body
  (#any-of? @_def "def" "defdelegate" "defp")) @definition.function
(call target: (identifier) @_def (arguments . [
    (binary_operator operator: _ @name)
    (binary_operator left: (binary_operator operator: _ @name) operator: "when")]
    (keywords)? @body) (do_block)? @body
  (#any-of? @_def "def" "defp") (#not-eq? @name "when")) @definition.function
(call target: (identifier) @_def (arguments . [
    (identifier) @name
    (call target: (identifier) @name (arguments) @arity)
    (binary_operator left: [
      (identifier) @name
      (call target: (identifier) @name (arguments) @arity)] operator: "when")]
    (keywords)? @body) (do_block)? @body
  (#any-of? @_def "defguard" "defguardp" "defmacro" "defmacrop")) @definition.macro
(call target: (identifier) @_test (arguments . (string) @name) (do_block) @body
  (#any-of? @_test "describe" "feature" "property" "test")) @definition.test

(call target: (identifier) @_def (arguments [
    (list (atom) @name)
    (list (keywords (pair key: (keyword) @name)))
    (keywords (pair key: (keyword) @name))])
  (#any-of? @_def "defexception" "defstruct")) @definition.field
(call target: (identifier) @_def (arguments . (atom) @name)
  (#any-of? @_def "belongs_to" "embeds_many" "embeds_one" "field" "has_many" "has_one" "many_to_many")
) @definition.field

(unary_operator operator: "@" operand: (call target: (identifier) @name (arguments))) @definition.constant
(unary_operator operator: "@" operand: (call target: (identifier) @_type (arguments . (binary_operator
    left: [(identifier) @name (call target: (identifier) @name)] operator: "::")))
  (#any-of? @_type "opaque" "type" "typep")) @definition.type
(unary_operator operator: "@" operand: (call target: (identifier) @_callback (arguments . [
    (binary_operator left: [
      (identifier) @name
      (call target: (identifier) @name (arguments) @arity)] operator: "::")
    (binary_operator left: (binary_operator left: [
      (identifier) @name
      (call target: (identifier) @name (arguments) @arity)] operator: "::") operator: "when")]))
  (#any-of? @_callback "callback" "macrocallback")) @definition.function

(unary_operator operator: "@" operand: (call target: (identifier) @_word)
  (#any-of? @_word "deprecated" "dialyzer" "doc" "impl" "since" "spec" "tag" "typedoc")) @mark.attribute
(unary_operator operator: "@" operand: (call target: (identifier) @_word)
  (#eq? @_word "moduledoc")) @mark.moduledoc
(unary_operator operator: "@" operand: (call target: (identifier) @_word)
  (#any-of? @_word "callback" "macrocallback" "opaque" "spec" "type" "typep")) @mark.types

(alias) @reference.type
(unary_operator operator: "@" operand: (identifier) @reference.constant)
(unary_operator operator: "&" operand: (binary_operator left: (identifier) @reference.call operator: "/"))
; Without parentheses and on a variable it is a field that is read.
(call target: (identifier) @reference.call)
(call target: (dot left: (_) @receiver right: (identifier) @reference.call) (arguments))
(call target: (dot left: [(alias) (atom)] @receiver right: (identifier) @reference.call))
(call target: (identifier) @_def (arguments . (alias) @reference.implements)
  (#any-of? @_def "behaviour" "defimpl"))

(call target: (identifier) @_word (arguments . [(alias) (dot)])
  (#any-of? @_word "alias" "import" "require" "use")) @import @import.clause
