; inherits: ocaml_interface
(compilation_unit (value_definition (let_binding pattern: (_) @name) @definition.variable))
(compilation_unit (value_definition (let_binding pattern: (tuple_pattern (value_name) @name)) @definition.variable))
(compilation_unit (value_definition (let_binding pattern: (_ (tuple_pattern (value_name) @name))) @definition.variable))
(compilation_unit (value_definition
  (let_binding pattern: (_) @name . (parameter) body: (_) @body) @definition.function))
(compilation_unit (value_definition
  (let_binding pattern: (_) @name body: [(fun_expression) (function_expression)] @body) @definition.function))
