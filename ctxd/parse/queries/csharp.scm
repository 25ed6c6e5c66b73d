(comment) @skip
[(string_literal) (verbatim_string_literal) (raw_string_literal) (character_literal)] @skip

(class_declaration name: (_) @name body: (_)? @body) @definition.class
(struct_declaration name: (_) @name body: (_)? @body) @definition.struct
(record_declaration name: (_) @name body: (_)? @body) @definition.class
(record_declaration "struct" name: (_) @name body: (_)? @body) @definition.struct
(record_declaration (parameter_list (parameter name: (_) @name) @definition.field))
(interface_declaration name: (_) @name body: (_)? @body) @definition.interface
(enum_declaration name: (_) @name body: (_)? @body) @definition.enum
(enum_member_declaration name: (_) @name) @definition.constant
(delegate_declaration name: (_) @name) @definition.type
(method_declaration name: (_) @name body: (_)? @body) @definition.method
(constructor_declaration name: (_) @name body: (_)? @body) @definition.method
(destructor_declaration "~" @name name: (_) @name body: (_)? @body) @definition.method
(operator_declaration "operator" @name . _ @name (parameter_list) body: (_)? @body) @definition.method
(conversion_operator_declaration "operator" @name type: (_) @name body: (_)? @body) @definition.method
(local_function_statement name: (_) @name body: (_)? @body) @definition.function
(property_declaration name: (_) @name) @definition.field
(property_declaration name: (_) @name accessors: (_) @body) @definition.field
(indexer_declaration "this" @name) @definition.method
(indexer_declaration "this" @name [(accessor_list) (arrow_expression_clause)] @body) @definition.method
(event_declaration name: (_) @name accessors: (_)? @body) @definition.field
(event_field_declaration (variable_declaration (variable_declarator name: (_) @name))) @definition.field
(field_declaration (variable_declaration (variable_declarator name: (_) @name))) @definition.field

(_ type: [
  (identifier) @reference.type
  (qualified_name qualifier: (_) @receiver name: (identifier) @reference.type)])
(_ returns: [
  (identifier) @reference.type
  (qualified_name qualifier: (_) @receiver name: (identifier) @reference.type)])
(generic_name (identifier) @reference.type)
(nullable_type (identifier) @reference.type)
(type_argument_list (identifier) @reference.type)
(invocation_expression function: [
  (identifier) @reference.call
  (generic_name (identifier) @reference.call)
  (member_access_expression expression: (_) @receiver name: (identifier) @reference.call)
  (member_access_expression expression: (_) @receiver name: (generic_name (identifier) @reference.call))
  (conditional_access_expression condition: (_) @receiver
    (member_binding_expression name: [
      (identifier) @reference.call
      (generic_name (identifier) @reference.call)]))])
(object_creation_expression type: [
  (identifier) @reference.call
  (generic_name (identifier) @reference.call)
  (qualified_name qualifier: (_) @receiver name: (identifier) @reference.call)])
(base_list [
  (identifier) @reference.extends
  (generic_name (identifier) @reference.extends)
  (qualified_name qualifier: (_) @receiver name: (identifier) @reference.extends)
  (qualified_name qualifier: (_) @receiver name: (generic_name (identifier) @reference.extends))
  (primary_constructor_base_type type: [
    (identifier) @reference.extends
    (generic_name (identifier) @reference.extends)])])
(struct_declaration (base_list [
  (identifier) @reference.implements
  (generic_name (identifier) @reference.implements)]))
; What is named like an interface is one.
(class_declaration (base_list [
  (identifier) @reference.implements
  (generic_name (identifier) @reference.implements)
  (qualified_name qualifier: (_) @receiver name: (identifier) @reference.implements)
  (qualified_name qualifier: (_) @receiver name: (generic_name (identifier) @reference.implements))]
  (#match? @reference.implements "^I[A-Z]")))
(record_declaration (base_list [
  (identifier) @reference.implements
  (generic_name (identifier) @reference.implements)]
  (#match? @reference.implements "^I[A-Z]")))
(attribute name: [
  (identifier) @reference.decorator
  (qualified_name qualifier: (_) @receiver name: (identifier) @reference.decorator)])

(using_directive !name [(identifier) (qualified_name)] @import.module @import.wildcard) @import
(using_directive name: (identifier) @import.namespace [(qualified_name) (generic_name)] @import.module) @import
