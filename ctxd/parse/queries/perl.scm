(heredoc_content) @skip
(pod) @skip
(pod) @mark.pod

(package_statement name: (_) @name) @definition.module
(package_statement name: (_) @name (block) @body) @definition.module
(class_statement name: (_) @name) @definition.class
(class_statement name: (_) @name (block) @body) @definition.class
(subroutine_declaration_statement name: (_) @name body: (_) @body) @definition.function
(method_declaration_statement name: (_) @name body: (_) @body) @definition.method
(assignment_expression left: (glob (varname) @name)
  right: (anonymous_subroutine_expression body: (_) @body)) @definition.function
; Declared with `our`, or with `my` and in capitals: the family looks.
(source_file (expression_statement
  (assignment_expression left: (variable_declaration variable: (_ (varname) @name))) @definition.variable))
(source_file (expression_statement (variable_declaration variable: (_ (varname) @name)) @definition.variable))
(source_file (expression_statement (variable_declaration "(" (_ (varname) @name)) @definition.variable))
(source_file (expression_statement (assignment_expression
  left: (variable_declaration variable: (scalar (varname) @name))
  right: (anonymous_subroutine_expression body: (_) @body)) @definition.function))
(variable_declaration "field" variable: (_ (varname) @name)) @definition.field
(use_statement module: (package) @_constant [
    (list_expression . (autoquoted_bareword) @name)
    (autoquoted_bareword) @name]
  (#eq? @_constant "constant")) @definition.constant
(use_statement module: (package) @_constant
  (anonymous_hash_expression (list_expression (autoquoted_bareword) @name))
  (#eq? @_constant "constant")) @definition.constant
(ambiguous_function_call_expression function: (function) @_has . arguments: [
    (autoquoted_bareword) @name
    (string_literal content: (_) @name)]
  (#any-of? @_has "has" "has_many" "rw" "ro")) @definition.field
(function_call_expression function: (function) @_has arguments: (list_expression . [
    (autoquoted_bareword) @name
    (string_literal content: (_) @name)])
  (#eq? @_has "has")) @definition.field
(ambiguous_function_call_expression function: (function) @_test . [
    (string_literal content: (_) @name)
    (interpolated_string_literal content: (_) @name)] . (anonymous_subroutine_expression body: (_) @body)
  (#any-of? @_test "describe" "it" "subtest")) @definition.test

(use_statement module: (package) @_parent
  (#any-of? @_parent "Mojo::Base" "base" "parent")) @mark.extends
(ambiguous_function_call_expression function: (function) @_word (#eq? @_word "extends")) @mark.extends
(ambiguous_function_call_expression function: (function) @_word (#eq? @_word "with")) @mark.implements
(assignment_expression left: (variable_declaration variable: (array (varname) @_isa)) (#eq? @_isa "ISA"))
  @mark.extends

; Of these the family keeps what is written in capitals.
(bareword) @reference.constant
(function_call_expression function: (function) @reference.call)
(ambiguous_function_call_expression function: (function) @reference.call)
(refgen_expression (function) @reference.call)
(method_call_expression invocant: (_) @receiver method: (_) @reference.call)
(method_call_expression invocant: (bareword) @reference.type)

(use_statement) @import @import.clause
(require_expression (bareword) @import.module) @import
