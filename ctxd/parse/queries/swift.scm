(comment) @skip
(multiline_comment) @skip
(line_str_text) @skip
(multi_line_str_text) @skip
(raw_string_literal) @skip
(regex_literal) @skip

; Properties only where they are no locals.
(source_file (property_declaration (value_binding_pattern mutability: "var")
  name: (pattern bound_identifier: (_) @name) computed_value: (_)? @body) @definition.variable)
(source_file (property_declaration (value_binding_pattern mutability: "let")
  name: (pattern bound_identifier: (_) @name)) @definition.constant)
(source_file (property_declaration name: (pattern (pattern (simple_identifier) @name))) @definition.variable)
(class_body (property_declaration name: (pattern bound_identifier: (_) @name)
  computed_value: (_)? @body) @definition.field)
(enum_class_body (property_declaration name: (pattern bound_identifier: (_) @name)
  computed_value: (_)? @body) @definition.field)
(protocol_property_declaration name: (pattern bound_identifier: (_) @name)) @definition.field
(enum_entry name: (simple_identifier) @name) @definition.constant

(class_declaration declaration_kind: ["class" "actor"] name: (_) @name body: (_) @body) @definition.class
(class_declaration declaration_kind: "struct" name: (_) @name body: (_) @body) @definition.struct
(class_declaration declaration_kind: "enum" name: (_) @name body: (_) @body) @definition.enum
(class_declaration declaration_kind: "extension" name: (_) @name body: (_) @body) @definition.extension
(protocol_declaration name: (_) @name body: (_) @body) @definition.interface
(function_declaration "func" . name: _ @name body: (_)? @body) @definition.function
(protocol_function_declaration "func" . name: _ @name) @definition.method
(init_declaration name: "init" @name body: (_)? @body) @definition.method
(deinit_declaration "deinit" @name body: (_) @body) @definition.method
(subscript_declaration "subscript" @name (computed_property) @body) @definition.method
(protocol_body (subscript_declaration "subscript" @name) @definition.method)
(typealias_declaration name: (type_identifier) @name) @definition.type
(associatedtype_declaration name: (type_identifier) @name) @definition.type
(macro_declaration "macro" . (simple_identifier) @name) @definition.macro

((user_type (type_identifier) @reference.type)
  (#not-any-of? @reference.type "Int" "UInt" "Bool" "String" "Character" "Double" "Float" "Void" "Any" "Self"))
(call_expression . [
  (simple_identifier) @reference.call
  (navigation_expression target: (_) @receiver suffix: (navigation_suffix suffix: (simple_identifier) @reference.call))])
(call_expression . (prefix_expression target: (simple_identifier) @reference.call))
(constructor_expression constructed_type: (user_type (type_identifier) @reference.call . (type_arguments)? .))
(macro_invocation (simple_identifier) @reference.call)
(protocol_declaration (inheritance_specifier inherits_from: (user_type
  (type_identifier) @reference.extends . (type_arguments)? .)))
(class_declaration (inheritance_specifier inherits_from: (user_type
  (type_identifier) @reference.implements . (type_arguments)? .)))
(class_declaration declaration_kind: "class" . name: (_) . (type_parameters)? . (inheritance_specifier
  inherits_from: (user_type (type_identifier) @reference.extends . (type_arguments)? .)))
(attribute (user_type (type_identifier) @reference.decorator .))

(import_declaration (identifier) @import.module) @import
