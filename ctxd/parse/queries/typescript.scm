; inherits: ecma
(internal_module body: (statement_block (lexical_declaration
  (variable_declarator name: (identifier) @name) @definition.constant)))
(ambient_declaration (lexical_declaration (variable_declarator name: (identifier) @name) @definition.constant))
(ambient_declaration (variable_declaration (variable_declarator name: (identifier) @name) @definition.variable))
(property_signature name: (_) @name) @definition.field
(public_field_definition name: (_) @name) @definition.field
(required_parameter (accessibility_modifier) @this pattern: (identifier) @name) @definition.field
(enum_body (property_identifier) @name @definition.constant)
(enum_body (string) @name @definition.constant)
(enum_assignment name: (_) @name) @definition.constant
(public_field_definition name: (_) @name value: [
  (arrow_function body: (_) @body)
  (function_expression body: (_) @body)]) @definition.method
(abstract_class_declaration name: (_) @name body: (_) @body) @definition.class
(interface_declaration name: (_) @name body: (_) @body) @definition.interface
(enum_declaration name: (_) @name body: (_) @body) @definition.enum
(type_alias_declaration name: (_) @name) @definition.type
(internal_module name: (_) @name body: (_) @body) @definition.module
(module name: (_) @name body: (_) @body) @definition.module
(function_signature name: (_) @name) @definition.function
(method_signature name: (_) @name) @definition.method
(abstract_method_signature name: (_) @name) @definition.method
(ambient_declaration (_) @wrapped) @wrapper
(class_body (decorator) @wrapper . (_) @wrapped)

(type_identifier) @reference.type
(extends_clause value: [
  (identifier) @reference.extends
  (member_expression object: (_) @receiver property: (_) @reference.extends)
  (call_expression function: (identifier) @reference.extends)])
(extends_type_clause type: [
  (type_identifier) @reference.extends
  (nested_type_identifier name: (_) @reference.extends)
  (generic_type name: (type_identifier) @reference.extends)])
(implements_clause [
  (type_identifier) @reference.implements
  (nested_type_identifier name: (_) @reference.implements)
  (generic_type name: (type_identifier) @reference.implements)])
(import_statement (import_require_clause (identifier) @import.namespace source: (_) @import.module)) @import
