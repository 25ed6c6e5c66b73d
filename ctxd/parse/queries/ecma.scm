; Shared by JavaScript, TypeScript and TSX.
(comment) @skip
(string) @skip
(template_string) @skip
(regex) @skip

; Variables at the top of a file or a namespace; the family drops locals.
(program (lexical_declaration kind: "const" (variable_declarator name: (identifier) @name) @definition.constant))
(program (lexical_declaration kind: "let" (variable_declarator name: (identifier) @name) @definition.variable))
(program (variable_declaration (variable_declarator name: (identifier) @name) @definition.variable))
(export_statement declaration: (lexical_declaration kind: "const"
  (variable_declarator name: (identifier) @name) @definition.constant))
(export_statement declaration: (lexical_declaration kind: "let"
  (variable_declarator name: (identifier) @name) @definition.variable))
(export_statement declaration: (variable_declaration
  (variable_declarator name: (identifier) @name) @definition.variable))
(export_statement "default" @name value: (object) @definition.constant)

(function_declaration name: (_) @name body: (_) @body) @definition.function
(generator_function_declaration name: (_) @name body: (_) @body) @definition.function
(class_declaration name: (_) @name body: (_) @body) @definition.class
(method_definition name: (_) @name body: (_) @body) @definition.method
(export_statement "default" @name value: [
  (function_expression !name body: (_) @body)
  (arrow_function body: (_) @body)] @definition.function)
(export_statement "default" @name value: (class !name body: (_) @body) @definition.class)
; What is exported by the name that it has inside of a call: `export default memo(function Foo() {})`.
(export_statement value: (call_expression arguments: (arguments
  (function_expression name: (_) @name body: (_) @body))) @definition.function)
(export_statement value: (call_expression arguments: (arguments
  (class name: (_) @name body: (_) @body))) @definition.class)

(variable_declarator name: (identifier) @name value: [
  (arrow_function body: (_) @body)
  (function_expression body: (_) @body)
  (generator_function body: (_) @body)
  (call_expression arguments: (arguments . [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)]))]) @definition.function
(variable_declarator name: (identifier) @name value: (class body: (_) @body)) @definition.class
(assignment_expression
  left: (member_expression object: (_) @owner property: (_) @name)
  right: [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)
    (generator_function body: (_) @body)]) @definition.function
(assignment_expression
  left: (member_expression object: (_) @owner property: (_) @name)
  right: (class body: (_) @body)) @definition.class
(assignment_expression
  left: (identifier) @name
  right: [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)]) @definition.function
(pair key: [(property_identifier) (string) (computed_property_name)] @name value: [
  (arrow_function body: (_) @body)
  (function_expression body: (_) @body)
  (generator_function body: (_) @body)]) @definition.function

(call_expression
  function: [
    (identifier) @_test
    (member_expression object: (identifier) @_test)
    (call_expression function: [(identifier) @_test (member_expression object: (identifier) @_test)])]
  arguments: (arguments . (string) @name . [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)])
  (#any-of? @_test "describe" "it" "test" "suite" "context" "specify" "fdescribe" "fit" "xdescribe" "xit")
) @definition.test

(lexical_declaration (variable_declarator) @wrapped) @wrapper.line
(variable_declaration (variable_declarator) @wrapped) @wrapper.line
(export_statement declaration: (_) @wrapped) @wrapper.export
(export_statement value: (_) @wrapped) @wrapper.export
(export_statement !source (export_clause (export_specifier name: (_) @export.name)))
(export_statement "default" value: (identifier) @export.name)
(assignment_expression
  left: (member_expression object: (identifier) @_module property: (_) @_exports)
  right: [
    (identifier) @export.name
    (object [
      (shorthand_property_identifier) @export.name
      (pair key: (_) @export.name)
      (pair value: (identifier) @export.name)
      (method_definition name: (_) @export.name)])]
  (#eq? @_module "module") (#eq? @_exports "exports"))

(call_expression function: [
  (identifier) @reference.call
  (member_expression object: (_) @receiver property: (_) @reference.call)])
(new_expression constructor: [
  (identifier) @reference.call
  (member_expression object: (_) @receiver property: (_) @reference.call)])
(decorator [
  (identifier) @reference.decorator
  (member_expression object: (_) @receiver property: (_) @reference.decorator)
  (call_expression function: [
    (identifier) @reference.decorator
    (member_expression object: (_) @receiver property: (_) @reference.decorator)])])

(import_statement (string) @import.module) @import
(import_statement (import_clause (identifier) @import.default) source: (_) @import.module) @import
(import_statement (import_clause (namespace_import (identifier) @import.namespace))
  source: (_) @import.module) @import
(import_statement (import_clause (named_imports (import_specifier
  name: (_) @import.name alias: (_)? @import.alias))) source: (_) @import.module) @import
(export_statement "*" @import.wildcard source: (_) @import.module) @import
(export_statement (namespace_export (_) @import.namespace) source: (_) @import.module) @import
(export_statement (export_clause (export_specifier
  name: (_) @import.name alias: (_)? @import.alias)) source: (_) @import.module) @import
(call_expression function: [(identifier) @_require (import)] arguments: (arguments . (string) @import.module .)
  (#eq? @_require "require")) @import
(variable_declarator name: (identifier) @import.namespace
  value: (call_expression function: (identifier) @_require arguments: (arguments . (string) @import.module .))
  (#eq? @_require "require")) @import
(variable_declarator
  name: (object_pattern [
    (shorthand_property_identifier_pattern) @import.name
    (pair_pattern key: (_) @import.name value: (identifier) @import.alias)])
  value: (call_expression function: (identifier) @_require arguments: (arguments . (string) @import.module .))
  (#eq? @_require "require")) @import
