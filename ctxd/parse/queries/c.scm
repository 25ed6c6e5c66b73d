(comment) @skip
(string_literal) @skip
(char_literal) @skip
(system_lib_string) @skip

; Globals and prototypes: only where declarations are not locals.
(translation_unit (declaration declarator: (_) @name) @definition.variable)
(preproc_ifdef (declaration declarator: (_) @name) @definition.variable)
(preproc_if (declaration declarator: (_) @name) @definition.variable)
(preproc_else (declaration declarator: (_) @name) @definition.variable)
(preproc_elif (declaration declarator: (_) @name) @definition.variable)
(declaration_list (declaration declarator: (_) @name) @definition.variable)
(ERROR (declaration declarator: (_) @name) @definition.variable)
(function_definition declarator: (_) @name body: (_) @body) @definition.function
(type_definition declarator: (_) @name) @definition.type
(type_definition type: (struct_specifier !name body: (_) @body) declarator: (type_identifier) @name) @definition.struct
(type_definition type: (union_specifier !name body: (_) @body) declarator: (type_identifier) @name) @definition.struct
(type_definition type: (enum_specifier !name body: (_) @body) declarator: (type_identifier) @name) @definition.enum
(struct_specifier name: (_) @name body: (_) @body) @definition.struct
(union_specifier name: (_) @name body: (_) @body) @definition.struct
(enum_specifier name: (_) @name body: (_) @body) @definition.enum
(enumerator name: (_) @name) @definition.constant
(field_declaration declarator: (_) @name) @definition.field
(preproc_def name: (_) @name) @definition.macro
(preproc_function_def name: (_) @name) @definition.macro
(type_definition type: (_) @wrapped) @wrapper

(type_identifier) @reference.type
(call_expression function: [
  (identifier) @reference.call
  (field_expression argument: (_) @receiver field: (_) @reference.call)
  (parenthesized_expression (pointer_expression argument: (_) @reference.call))])

(preproc_include path: (_) @import.module) @import
