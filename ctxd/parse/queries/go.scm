(comment) @skip
(interpreted_string_literal) @skip
(raw_string_literal) @skip

(source_file (const_declaration (const_spec name: (identifier) @name) @definition.constant))
(source_file (var_declaration (var_spec name: (identifier) @name) @definition.variable))
(source_file (var_declaration (var_spec_list (var_spec name: (identifier) @name) @definition.variable)))
(function_declaration name: (_) @name body: (_)? @body) @definition.function
(method_declaration
  receiver: (parameter_list (parameter_declaration type: [
    (type_identifier) @owner
    (pointer_type (type_identifier) @owner)
    (generic_type type: (type_identifier) @owner)
    (pointer_type (generic_type type: (type_identifier) @owner))
    (parenthesized_type (pointer_type (type_identifier) @owner))]))
  name: (_) @name body: (_)? @body) @definition.method
(type_spec name: (_) @name) @definition.type
(type_alias name: (_) @name) @definition.type
(type_spec name: (_) @name type: (struct_type (field_declaration_list) @body)) @definition.struct
(type_spec name: (_) @name type: (interface_type "{" @body)) @definition.interface
(method_elem name: (_) @name) @definition.method
(field_declaration name: (_) @name) @definition.field
(field_declaration !name type: [
  (type_identifier) @name
  (qualified_type name: (_) @name)
  (generic_type type: (type_identifier) @name)]) @definition.field

(const_declaration (const_spec) @wrapped) @wrapper.line
(var_declaration (var_spec) @wrapped) @wrapper.line
(type_declaration [(type_spec) (type_alias)] @wrapped) @wrapper.line

(type_identifier) @reference.type
(qualified_type package: (_) @receiver name: (_) @reference.type)
(call_expression function: [
  (identifier) @reference.call
  (selector_expression operand: (_) @receiver field: (_) @reference.call)
  (parenthesized_expression (identifier) @reference.call)
  (index_expression operand: (identifier) @reference.call)])
(call_expression function: (type_instantiation_expression type: (type_identifier) @reference.call))
(type_conversion_expression type: (generic_type type: (type_identifier) @reference.call))
(field_declaration !name type: [
  (type_identifier) @reference.extends
  (qualified_type package: (_) @receiver name: (_) @reference.extends)
  (generic_type type: (type_identifier) @reference.extends)])
(interface_type (type_elem . [
  (type_identifier) @reference.extends
  (qualified_type package: (_) @receiver name: (_) @reference.extends)] .))

(import_spec !name path: (_) @import.module) @import
(import_spec name: (package_identifier) @import.namespace path: (_) @import.module) @import
(import_spec name: (blank_identifier) path: (_) @import.module) @import
(import_spec name: (dot) @import.wildcard path: (_) @import.module) @import
