(comment) @skip
(string) @skip

(binary_operator lhs: [(identifier) (string)] @name operator: ["<-" "<<-" "=" ":="]) @definition.variable
(binary_operator operator: ["->" "->>"] rhs: [(identifier) (string)] @name) @definition.variable
(binary_operator lhs: (parenthesized_expression (function_definition))
  operator: ["->" "->>"] rhs: [(identifier) (string)] @name) @definition.function
(binary_operator lhs: [(identifier) (string)] @name operator: ["<-" "<<-" "=" ":="]
  rhs: (function_definition body: (_) @body)) @definition.function
(binary_operator lhs: (extract_operator lhs: (_) @owner rhs: (identifier) @name)
  rhs: (function_definition body: (_) @body)) @definition.function
(program (string) @name @definition.variable)
((call function: (identifier) @_assign arguments: (arguments
  . (argument value: (string content: (_) @name)) (comma)
  . (argument value: (function_definition body: (_) @body)))) @definition.function
  (#any-of? @_assign "assign" "delayedAssign" "makeActiveBinding"))
((binary_operator lhs: (identifier) rhs: (call function: (identifier) @_list
  arguments: (arguments (argument name: (_) @name value: (function_definition body: (_) @body)) @definition.function)))
  (#eq? @_list "list"))

; S4, reference classes, R6, S7, ggproto.
((binary_operator lhs: [(identifier) (string)] @name rhs: (call
  function: [(identifier) @_class (namespace_operator rhs: (identifier) @_class)]
  arguments: (_) @body)) @definition.class
  (#any-of? @_class "R6Class" "setRefClass" "setClass" "setClassUnion" "new_class" "ggproto" "proto"))
((program (call function: [(identifier) @_class (namespace_operator rhs: (identifier) @_class)]
  arguments: (arguments . (argument value: (string content: (_) @name)))) @definition.class)
  (#any-of? @_class "R6Class" "setRefClass" "setClass" "setClassUnion"))
((braced_expression (call function: (identifier) @_class
  arguments: (arguments . (argument value: (string content: (_) @name)))) @definition.class)
  (#any-of? @_class "R6Class" "setRefClass" "setClass" "setClassUnion"))
((call function: (identifier) @_generic
  arguments: (arguments . (argument value: (string content: (_) @name)))) @definition.function
  (#eq? @_generic "setGeneric"))
((call function: (identifier) @_method arguments: (arguments
  . (argument value: (string content: (_) @name)) (comma)
  . (argument value: [
    (string content: (_) @owner)
    (call arguments: (arguments . (argument value: (string content: (_) @owner))))]))) @definition.method
  (#any-of? @_method "setMethod" "setReplaceMethod"))
((binary_operator lhs: (call function: (identifier) @_method arguments: (arguments
  . (argument value: (_) @name) (comma)
  . (argument value: (_) @owner))) rhs: (function_definition body: (_) @body)) @definition.method
  (#eq? @_method "method"))
((call function: (extract_operator rhs: (identifier) @_class) arguments: (arguments
  (argument name: (_) @name value: (function_definition body: (_) @body)) @definition.method))
  (#eq? @_class "ggproto"))
((call function: [(identifier) @_class (namespace_operator rhs: (identifier) @_class)] arguments: (arguments
  (argument name: (_) @name value: (function_definition body: (_) @body)) @definition.method))
  (#any-of? @_class "ggproto" "proto"))
((call function: [(identifier) @_class (namespace_operator rhs: (identifier) @_class)] arguments: (arguments
  (argument name: (identifier) @_section value: (call arguments: (arguments
    (argument name: (_) @name value: (_)) @definition.field)))))
  (#any-of? @_class "R6Class" "setRefClass" "setClass" "new_class")
  (#any-of? @_section "public" "private" "active" "methods" "fields" "slots" "representation" "properties"))
((call function: [(identifier) @_class (namespace_operator rhs: (identifier) @_class)] arguments: (arguments
  (argument name: (identifier) @_section value: (call arguments: (arguments
    (argument name: (_) @name value: (function_definition body: (_) @body)) @definition.method)))))
  (#any-of? @_class "R6Class" "setRefClass" "new_class"))
((call function: (identifier) @_class arguments: (arguments (argument !name value: (call
  function: (identifier) @_slots arguments: (arguments (argument name: (_) @name) @definition.field)))))
  (#eq? @_class "setClass") (#eq? @_slots "representation"))
((call function: (extract_operator lhs: (identifier) @owner rhs: (identifier) @_methods) arguments: (arguments
  (argument name: (_) @name value: (function_definition body: (_) @body)) @definition.method))
  (#any-of? @_methods "methods" "set"))
((argument name: (identifier) @_private) @mark.private (#eq? @_private "private"))

((call function: (identifier) @_test arguments: (arguments
  . (argument value: (string content: (_) @name)))) @definition.test
  (#any-of? @_test "test_that" "describe" "it"))

(call function: [
  (identifier) @reference.call
  (namespace_operator lhs: (_) @receiver rhs: (identifier) @reference.call)
  (extract_operator lhs: (_) @receiver rhs: (identifier) @reference.call)])
((argument name: (identifier) @_parent value: [
  (identifier) @reference.extends
  (namespace_operator lhs: (_) @receiver rhs: (identifier) @reference.extends)
  (string content: (_) @reference.extends)
  (call arguments: (arguments (argument value: (string content: (_) @reference.extends))))])
  (#any-of? @_parent "inherit" "contains" "parent"))

((call function: (identifier) @_library @import.wildcard arguments: (arguments
  . (argument value: [(identifier) @import.module (string content: (_) @import.module)]))) @import
  (#any-of? @_library "library" "require" "source" "sys.source"))
((call function: (identifier) @_library arguments: (arguments
  . (argument value: (string content: (_) @import.module)))) @import
  (#any-of? @_library "requireNamespace" "loadNamespace"))
((call function: (namespace_operator lhs: (identifier) @_import rhs: (identifier) @_from) arguments: (arguments
  . (argument value: (_) @import.module)
  (argument !name value: [(identifier) @import.name (string content: (_) @import.name)]))) @import
  (#eq? @_import "import") (#any-of? @_from "from" "here"))
((call function: (namespace_operator lhs: (identifier) @_box rhs: (identifier) @_use) arguments: (arguments
  (argument value: (subset function: (_) @import.module
    arguments: (_ (argument value: (identifier) @import.name)))))) @import
  (#eq? @_box "box") (#eq? @_use "use"))
((call function: (namespace_operator lhs: (identifier) @_box rhs: (identifier) @_use) arguments: (arguments
  (argument value: [(identifier) (namespace_operator) (binary_operator)] @import.module))) @import
  (#eq? @_box "box") (#eq? @_use "use"))
