(comment) @skip
(string_content) @skip
(text) @skip
(heredoc_start) @skip
(heredoc_end) @skip

(program (expression_statement (assignment_expression left: (variable_name) @name right: [
  (anonymous_function body: (_) @body)
  (arrow_function body: (_) @body)])) @definition.function)
(namespace_definition name: (_) @name body: (_) @body) @definition.module
(class_declaration name: (_) @name body: (_) @body) @definition.class
(interface_declaration name: (_) @name body: (_) @body) @definition.interface
(trait_declaration name: (_) @name body: (_) @body) @definition.trait
(enum_declaration name: (_) @name body: (_) @body) @definition.enum
(function_definition name: (_) @name body: (_) @body) @definition.function
(method_declaration name: (_) @name body: (_)? @body) @definition.method
(const_declaration (const_element . (name) @name)) @definition.constant
(enum_case name: (_) @name) @definition.constant
(property_declaration (property_element name: (_) @name)) @definition.field
(property_promotion_parameter name: (_) @name) @definition.field @this
(function_call_expression function: (name) @_define
  arguments: (arguments . (argument (string (string_content) @name)))
  (#eq? @_define "define")) @definition.constant
(function_call_expression function: (name) @_test
  arguments: (arguments . (argument [(string) (encapsed_string)] @name) . (argument [
    (anonymous_function body: (_) @body)
    (arrow_function body: (_) @body)]))
  (#any-of? @_test "arch" "describe" "it" "test")) @definition.test

(named_type [(name) @reference.type (qualified_name prefix: (_) @receiver . (name) @reference.type)])
(binary_expression operator: "instanceof" right: [
  (name) @reference.type
  (qualified_name prefix: (namespace_name) @receiver (name) @reference.type)])
(class_constant_access_expression . [
  (name) @reference.type
  (qualified_name prefix: (namespace_name) @receiver (name) @reference.type)])
(scoped_call_expression scope: [
  (name) @reference.type
  (qualified_name prefix: (namespace_name) @receiver (name) @reference.type)])
(scoped_property_access_expression scope: [
  (name) @reference.type
  (qualified_name prefix: (namespace_name) @receiver (name) @reference.type)])
(function_call_expression function: [
  (name) @reference.call
  (qualified_name prefix: (namespace_name)? @receiver (name) @reference.call)])
(member_call_expression object: (_) @receiver name: (name) @reference.call)
(nullsafe_member_call_expression object: (_) @receiver name: (name) @reference.call)
(scoped_call_expression scope: (_) @receiver name: (name) @reference.call)
(object_creation_expression [
  (name) @reference.call
  (qualified_name prefix: (namespace_name)? @receiver (name) @reference.call)])
(base_clause [
  (name) @reference.extends
  (qualified_name prefix: (namespace_name)? @receiver (name) @reference.extends)])
(class_interface_clause [
  (name) @reference.implements
  (qualified_name prefix: (namespace_name)? @receiver (name) @reference.implements)])
(use_declaration [
  (name) @reference.implements
  (qualified_name prefix: (namespace_name)? @receiver (name) @reference.implements)])
(attribute [
  (name) @reference.decorator
  (qualified_name prefix: (namespace_name)? @receiver (name) @reference.decorator)])

(namespace_use_declaration (namespace_use_clause . (name) @import.name alias: (_)? @import.alias)) @import
(namespace_use_declaration (namespace_use_clause
  (qualified_name prefix: (namespace_name) @import.module (name) @import.name) alias: (_)? @import.alias)) @import
(namespace_use_declaration (namespace_name) @import.module body: (namespace_use_group (namespace_use_clause
  . [(name) @import.name (qualified_name (name) @import.name)] alias: (_)? @import.alias))) @import
([
  (require_expression [(string (_) @import.module) (binary_expression right: (string (_) @import.module))])
  (require_once_expression [(string (_) @import.module) (binary_expression right: (string (_) @import.module))])
  (include_expression [(string (_) @import.module) (binary_expression right: (string (_) @import.module))])
  (include_once_expression [(string (_) @import.module) (binary_expression right: (string (_) @import.module))])
]) @import
