[(line_comment) (block_comment)] @skip
[(string_literal) (character_literal)] @skip

(class_declaration name: (_) @name body: (_) @body) @definition.class
(record_declaration name: (_) @name body: (_) @body) @definition.class
(record_declaration parameters: (formal_parameters
  [(formal_parameter name: (_) @name) (spread_parameter (variable_declarator name: (_) @name))] @definition.field))
(interface_declaration name: (_) @name body: (_) @body) @definition.interface
(annotation_type_declaration name: (_) @name body: (_) @body) @definition.interface
(enum_declaration name: (_) @name body: (_) @body) @definition.enum
(enum_constant name: (_) @name body: (_)? @body) @definition.constant
(method_declaration name: (_) @name body: (_)? @body) @definition.method
(annotation_type_element_declaration name: (_) @name) @definition.method
(constructor_declaration name: (_) @name body: (_) @body) @definition.method
(compact_constructor_declaration name: (_) @name body: (_) @body) @definition.method
(field_declaration declarator: (variable_declarator name: (identifier) @name)) @definition.field
(constant_declaration declarator: (variable_declarator name: (identifier) @name)) @definition.constant
; A type parameter is no use of a type.
(type_parameter . (type_identifier) @reference.type)
(type_parameter (marker_annotation) (type_identifier) @reference.type)

(type_identifier) @reference.type
(method_invocation !object name: (_) @reference.call)
(method_invocation object: (_) @receiver name: (_) @reference.call)
(method_reference . (_) @receiver (identifier) @reference.call .)
(object_creation_expression type: [
  (type_identifier) @reference.call
  (generic_type (type_identifier) @reference.call)
  (scoped_type_identifier (_) @receiver (type_identifier) @reference.call .)
  (generic_type (scoped_type_identifier (_) @receiver (type_identifier) @reference.call .))])
(superclass [
  (type_identifier) @reference.extends
  (generic_type (type_identifier) @reference.extends)
  (scoped_type_identifier (_) @receiver (type_identifier) @reference.extends .)
  (generic_type (scoped_type_identifier (_) @receiver (type_identifier) @reference.extends .))])
(super_interfaces (type_list [
  (type_identifier) @reference.implements
  (generic_type (type_identifier) @reference.implements)
  (scoped_type_identifier (_) @receiver (type_identifier) @reference.implements .)
  (generic_type (scoped_type_identifier (_) @receiver (type_identifier) @reference.implements .))]))
(extends_interfaces (type_list [
  (type_identifier) @reference.extends
  (generic_type (type_identifier) @reference.extends)
  (scoped_type_identifier (_) @receiver (type_identifier) @reference.extends .)
  (generic_type (scoped_type_identifier (_) @receiver (type_identifier) @reference.extends .))]))
[(annotation name: (identifier) @reference.decorator)
 (marker_annotation name: (identifier) @reference.decorator)
 (annotation name: (scoped_identifier scope: (_) @receiver name: (_) @reference.decorator))
 (marker_annotation name: (scoped_identifier scope: (_) @receiver name: (_) @reference.decorator))]

(import_declaration (scoped_identifier scope: (_) @import.module name: (_) @import.name) .) @import
(import_declaration (identifier) @import.module .) @import
(import_declaration (_) @import.module (asterisk) @import.wildcard .) @import
