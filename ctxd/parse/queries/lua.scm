(comment) @skip
(string) @skip

(chunk (variable_declaration (variable_list name: (identifier) @name)) @definition.variable)
(chunk (variable_declaration (assignment_statement (variable_list name: (identifier) @name))) @definition.variable)
(chunk (assignment_statement (variable_list name: (identifier) @name)) @definition.variable)
(chunk (assignment_statement
  (variable_list name: (dot_index_expression table: (_) @owner field: (identifier) @name))) @definition.variable)

(function_declaration name: (identifier) @name body: (_)? @body "end" @body) @definition.function
(function_declaration name: (dot_index_expression table: (_) @owner field: (identifier) @name)
  body: (_)? @body "end" @body) @definition.function
(function_declaration name: (method_index_expression table: (_) @owner method: (identifier) @name)
  body: (_)? @body "end" @body) @definition.method
(assignment_statement (variable_list . name: (identifier) @name .)
  (expression_list . value: (function_definition body: (_)? @body "end" @body) .)) @definition.function
(assignment_statement (variable_list . name: [
    (dot_index_expression table: (_) @owner field: (identifier) @name)
    (bracket_index_expression table: (_) @owner field: (string) @name)] .)
  (expression_list . value: (function_definition body: (_)? @body "end" @body) .)) @definition.function
(field name: [(identifier) (string)] @name
  value: (function_definition body: (_)? @body "end" @body)) @definition.function
(function_call name: [(identifier) @_test (dot_index_expression table: (identifier) @_test)]
  arguments: (arguments . (string) @name . (function_definition body: (_)? @body "end" @body))
  (#any-of? @_test "context" "describe" "insulate" "it" "pending" "spec" "test")) @definition.test

(variable_declaration (assignment_statement) @wrapped) @wrapper.line
(chunk (return_statement (expression_list . [
  (identifier) @export.name
  (function_call arguments: (arguments . (identifier) @export.name))
  (table_constructor (field value: (identifier) @export.name))])))

(function_call name: [
  (identifier) @reference.call
  (dot_index_expression table: (_) @receiver field: (identifier) @reference.call)
  (method_index_expression table: (_) @receiver method: (identifier) @reference.call)])

(function_call name: (identifier) @_require arguments: (arguments . (string content: (_) @import.module) .)
  (#any-of? @_require "dofile" "loadfile" "require")) @import
(function_call name: (identifier) @_call
  arguments: (arguments . (identifier) @_require . (string content: (_) @import.module) .)
  (#any-of? @_call "pcall" "xpcall") (#eq? @_require "require")) @import
(assignment_statement (variable_list . name: (identifier) @import.namespace .) (expression_list . value: (function_call
    name: (identifier) @_require arguments: (arguments . (string content: (_) @import.module) .)) .)
  (#eq? @_require "require")) @import
(assignment_statement (variable_list . name: (identifier) . name: (identifier) @import.namespace .)
  (expression_list . value: (function_call name: (identifier) @_call
    arguments: (arguments . (identifier) @_require . (string content: (_) @import.module) .)) .)
  (#eq? @_call "pcall") (#eq? @_require "require")) @import
(assignment_statement (variable_list . name: (identifier) @import.alias .)
  (expression_list . value: (dot_index_expression table: (function_call
      name: (identifier) @_require arguments: (arguments . (string content: (_) @import.module) .))
    field: (identifier) @import.name) .)
  (#eq? @_require "require")) @import
