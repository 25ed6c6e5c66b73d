(comment) @skip
(raw_string) @skip
(heredoc_content) @skip

; Only names in capitals, says the family; what stands in functions is local.
(program [
  (variable_assignment name: (variable_name) @name)
  (variable_assignments (variable_assignment name: (variable_name) @name))] @definition.variable)
(if_statement (variable_assignment name: (variable_name) @name) @definition.variable)
(elif_clause (variable_assignment name: (variable_name) @name) @definition.variable)
(else_clause (variable_assignment name: (variable_name) @name) @definition.variable)
(case_item (variable_assignment name: (variable_name) @name) @definition.variable)
(list (variable_assignment name: (variable_name) @name) @definition.variable)
(compound_statement (variable_assignment name: (variable_name) @name) @definition.variable)
; Any name.
(declaration_command (variable_assignment name: (variable_name) @name)) @definition.constant

(function_definition name: (_) @name body: (_) @body) @definition.function
(command name: (command_name . (word) @_word) argument: [
    (concatenation . (word) @name)
    (word) @name]
  (#eq? @_word "alias")) @definition.function

(command name: (command_name . (word) @reference.call .))
(command name: (command_name . (word) @_word .) . argument: (word) @reference.call
  (#any-of? @_word "builtin" "command" "exec" "run" "sudo" "time" "trap"))

(command name: (command_name . (word) @_word .) . argument: (_) @import.module
  (#any-of? @_word "." "bats_load_library" "load" "source")) @import
