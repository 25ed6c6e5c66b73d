; Constants are told from classes by their case: the family does that, for uses too.
(assignment left: (constant) @name) @definition.constant
(assignment left: (scope_resolution scope: (_) @owner name: (constant) @name)) @definition.constant
(operator_assignment left: (constant) @name) @definition.constant
(program (assignment left: (global_variable) @name) @definition.variable)

(class name: (constant) @name body: (_)? @body "end" @body) @definition.class
(class name: (scope_resolution scope: (_)? @owner name: (constant) @name) body: (_)? @body "end" @body) @definition.class
(module name: (constant) @name body: (_)? @body "end" @body) @definition.module
(module name: (scope_resolution scope: (_)? @owner name: (constant) @name) body: (_)? @body "end" @body)
  @definition.module
(method name: (_) @name body: (_)? @body "end"? @body) @definition.method
(singleton_method object: (_) @owner name: (_) @name body: (_)? @body "end"? @body) @definition.method
(singleton_method object: (self) name: (_) @name body: (_)? @body "end"? @body) @definition.method
(assignment left: (constant) @name right: (call
  receiver: (constant) @_maker method: (identifier) @_new block: (_)? @body)
  (#any-of? @_maker "Class" "Data" "Module" "Struct")
  (#any-of? @_new "new" "define")) @definition.class
(alias name: (_) @name) @definition.method
(singleton_class) @mark.singleton

; What a class says of itself by calls with literal names.
(call !receiver method: (identifier) @_word arguments: (argument_list [
    (simple_symbol) @name
    (string (string_content) @name)])
  (#any-of? @_word "attr" "attr_accessor" "attr_reader" "attr_writer" "attr_internal" "cattr_accessor" "cattr_reader"
    "cattr_writer" "class_attribute" "config_accessor" "mattr_accessor" "mattr_reader" "mattr_writer"
    "thread_cattr_accessor" "thread_mattr_accessor")) @definition.field
(call !receiver method: (identifier) @_word arguments: (argument_list . (simple_symbol) @name)
  (#any-of? @_word "attribute" "belongs_to" "has_and_belongs_to_many" "has_many" "has_many_attached" "has_one"
    "has_one_attached" "has_rich_text")) @definition.field
(call !receiver method: (identifier) @_word arguments: (argument_list . [
    (simple_symbol) @name
    (string . (string_content) @name .)]) block: (_)? @body
  (#any-of? @_word "alias_method" "define_method" "define_singleton_method" "scope")) @definition.method
(call !receiver method: (identifier) @_word arguments: (argument_list (simple_symbol) @name (pair key: (_) @_to))
  (#eq? @_word "delegate") (#eq? @_to "to")) @definition.method
(call method: (identifier) @_word arguments: (argument_list . (constant) @name) block: (_) @body
  (#eq? @_word "refine")) @definition.extension

; Specs, and the tasks and namespaces of Rake.
(call method: (identifier) @_word arguments: (argument_list . (_) @name) block: (_) @body
  (#any-of? @_word "context" "describe" "example" "fcontext" "fdescribe" "feature" "fit" "it" "scenario"
    "shared_context" "shared_examples" "shared_examples_for" "should" "specify" "test" "xcontext" "xdescribe" "xit")
) @definition.test
(call !receiver method: (identifier) @_word arguments: (argument_list . [
    (simple_symbol) @name
    (string (string_content) @name)
    (pair key: [(simple_symbol) (hash_key_symbol) (string)] @name)]) block: (_) @body
  (#eq? @_word "task")) @definition.function
(call !receiver method: (identifier) @_word arguments: (argument_list . [
    (simple_symbol) @name
    (string (string_content) @name)]) block: (_) @body
  (#eq? @_word "namespace")) @definition.module

; Visibility: from a line on, of names, of a definition that follows.
(body_statement (identifier) @mark.section (#any-of? @mark.section "private" "protected" "public"))
(do_block body: (body_statement (identifier) @_word (#any-of? @_word "private" "protected"))) @mark.singleton
(call !receiver method: (identifier) @_word arguments: (argument_list) @mark.hidden
  (#any-of? @_word "private" "protected" "private_class_method" "private_constant"))
(call arguments: (argument_list . [(method) (singleton_method)] @wrapped)) @wrapper
(call !receiver method: (identifier) @_word !arguments block: (_) (#eq? @_word "sig")) @mark.attribute

; A method of this file that is called without anything: statements, conditions, receivers, arguments.
(body_statement (identifier) @mark.bare)
(then (identifier) @mark.bare)
(else (identifier) @mark.bare)
(block_body (identifier) @mark.bare)
(if condition: (identifier) @mark.bare)
(unless condition: (identifier) @mark.bare)
(if_modifier [body: (identifier) condition: (identifier)] @mark.bare)
(unless_modifier [body: (identifier) condition: (identifier)] @mark.bare)
(unary operand: (identifier) @mark.bare)
(binary (identifier) @mark.bare)
(assignment right: (identifier) @mark.bare)
(argument_list (identifier) @mark.bare)
(call receiver: (identifier) @mark.bare)

(constant) @reference.type
(scope_resolution scope: (_) @receiver name: (constant) @reference.type)
(call receiver: (_)? @receiver method: [(identifier) (constant)] @reference.call)
(call !receiver method: (identifier) @_word arguments: (argument_list [
    (constant) @reference.implements
    (scope_resolution scope: (_)? @receiver name: (constant) @reference.implements)])
  (#any-of? @_word "extend" "include" "prepend"))
(superclass [
  (constant) @reference.extends
  (scope_resolution scope: (_)? @receiver name: (constant) @reference.extends)
  (element_reference object: [
    (constant) @reference.extends
    (scope_resolution scope: (_)? @receiver name: (constant) @reference.extends)])])
(call !receiver method: (identifier) @_word arguments: (argument_list (simple_symbol) @reference.call)
  (#match? @_word "^(?:(?:skip_|prepend_|append_)?(?:before|after|around)_\\w+|helper_method|validate)$"))

(call !receiver method: (identifier) @_word arguments: (argument_list . (string . (string_content) @import.module .))
  (#any-of? @_word "load" "require" "require_dependency" "require_relative")) @import
(call !receiver method: (identifier) @_word
  arguments: (argument_list . (simple_symbol) @import.name . (string (string_content) @import.module) .)
  (#eq? @_word "autoload")) @import
