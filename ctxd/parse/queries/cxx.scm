; inherits: c
; Shared by C++ and CUDA.
(raw_string_literal) @skip

(template_declaration (declaration declarator: (_) @name) @definition.variable)
(friend_declaration (declaration declarator: (_) @name) @definition.variable)
(field_declaration_list (declaration declarator: (_) @name) @definition.field)
(field_declaration_list (template_declaration (declaration declarator: (_) @name) @definition.field))
(function_definition declarator: (_) @name
  [(default_method_clause) (delete_method_clause) (pure_virtual_clause)]) @definition.function
(function_definition declarator: (_) @name (try_statement body: (_) @body)) @definition.function
(class_specifier name: (_) @name body: (_) @body) @definition.class
(alias_declaration name: (_) @name) @definition.type
(concept_definition name: (_) @name) @definition.trait
(namespace_definition name: (_) @name body: (_) @body) @definition.module
(template_declaration (_) @wrapped) @wrapper
(friend_declaration (_) @wrapped) @wrapper
(field_declaration_list (access_specifier) @mark.access)
(namespace_definition !name body: (_) @mark.unnamed)

(call_expression function: [
  (template_function name: (identifier) @reference.call)
  (qualified_identifier scope: (_) @receiver name: [
    (identifier) @reference.call
    (template_function name: (identifier) @reference.call)])
  (qualified_identifier name: (qualified_identifier scope: (_) @receiver name: [
    (identifier) @reference.call
    (template_function name: (identifier) @reference.call)]))
  (qualified_identifier name: (qualified_identifier name: (qualified_identifier scope: (_) @receiver name: [
    (identifier) @reference.call
    (template_function name: (identifier) @reference.call)])))
  (field_expression argument: (_) @receiver field: [
    (template_method name: (_) @reference.call)
    (dependent_name (template_method name: (_) @reference.call))])])
(new_expression type: [
  (type_identifier) @reference.call
  (template_type name: (type_identifier) @reference.call)
  (qualified_identifier scope: (_) @receiver name: [
    (type_identifier) @reference.call
    (template_type name: (type_identifier) @reference.call)])])
(base_class_clause [
  (type_identifier) @reference.extends
  (template_type name: (type_identifier) @reference.extends)
  (qualified_identifier scope: (_) @receiver name: [
    (type_identifier) @reference.extends
    (template_type name: (type_identifier) @reference.extends)])])
(attribute name: (identifier) @reference.decorator)

(using_declaration "namespace" @import.wildcard (_) @import.module) @import
(using_declaration !name . "using" . (qualified_identifier scope: (_) @import.module name: (identifier) @import.name)
) @import
