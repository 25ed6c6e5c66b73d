[(comment) (block_comment)] @skip
[(string) (character_literal)] @skip

(class_definition name: (_) @name) @definition.class
(class_definition name: (_) @name body: (_) @body) @definition.class
(class_definition "case" class_parameters: (class_parameters (class_parameter name: (_) @name) @definition.field))
(class_parameter ["val" "var"] name: (_) @name) @definition.field
(object_definition name: (_) @name body: (_)? @body) @definition.class
(trait_definition name: (_) @name body: (_)? @body) @definition.trait
(enum_definition name: (_) @name body: (_)? @body) @definition.enum
(simple_enum_case name: (_) @name) @definition.constant
(full_enum_case name: (_) @name) @definition.constant
(package_object name: (_) @name body: (_)? @body) @definition.module
(type_definition name: (_) @name) @definition.type
(function_definition name: (_) @name body: (_) @body) @definition.function
(function_declaration name: (_) @name) @definition.function
(given_definition !name "given" @name return_type: (_) @name) @definition.variable
(given_definition !name "given" @name return_type: (_) @name body: (_) @body) @definition.variable
(given_definition name: (_) @name body: (_)? @body) @definition.variable
; Methods in an extension belong to the type that it extends.
(extension_definition . parameters: (parameters . (parameter type: [
  (type_identifier) @name
  (generic_type type: (type_identifier) @name)]))) @definition.extension
(extension_definition . type_parameters: (_) . parameters: (parameters . (parameter type: [
  (type_identifier) @name
  (generic_type type: (type_identifier) @name)]))) @definition.extension

; Values where they are no locals.
(compilation_unit [(val_definition pattern: (identifier) @name) (var_definition pattern: (identifier) @name)]
  @definition.variable)
(compilation_unit [
  (val_definition pattern: (identifiers (identifier) @name))
  (val_definition pattern: (tuple_pattern (identifier) @name))
  (var_definition pattern: (identifiers (identifier) @name))] @definition.variable)
(template_body [(val_definition pattern: (identifier) @name) (var_definition pattern: (identifier) @name)]
  @definition.field)
(template_body [
  (val_definition pattern: (identifiers (identifier) @name))
  (val_definition pattern: (tuple_pattern (identifier) @name))
  (var_definition pattern: (identifiers (identifier) @name))] @definition.field)
(template_body [(val_declaration name: (_) @name) (var_declaration name: (_) @name)] @definition.field)
(enum_body [(val_definition pattern: (identifier) @name) (var_definition pattern: (identifier) @name)]
  @definition.field)
(with_template_body (val_definition pattern: (identifier) @name) @definition.field)
(enum_case_definitions . (_) @wrapped) @wrapper.line

(type_identifier) @reference.type
(call_expression function: [
  (identifier) @reference.call
  (field_expression value: (_) @receiver field: (identifier) @reference.call)
  (generic_function function: [
    (identifier) @reference.call
    (field_expression value: (_) @receiver field: (identifier) @reference.call)])])
(generic_function function: [
  (identifier) @reference.call
  (field_expression value: (_) @receiver field: (identifier) @reference.call)])
(infix_expression left: (_) @receiver operator: (identifier) @reference.call)
(instance_expression . [
  (type_identifier) @reference.call
  (generic_type type: (type_identifier) @reference.call)
  (stable_type_identifier (_) @receiver (type_identifier) @reference.call .)])
(extends_clause [
  (type_identifier) @reference.extends
  (generic_type type: (type_identifier) @reference.extends)
  (stable_type_identifier (_) @receiver (type_identifier) @reference.extends .)])
(derives_clause (type_identifier) @reference.implements)
(annotation name: [
  (type_identifier) @reference.decorator
  (generic_type type: (type_identifier) @reference.decorator)])

[(import_declaration) (export_declaration)] @import @import.clause
