(comment) @skip
(string) @skip

(class_definition name: (identifier) @name body: (_) @body) @definition.class
(function_definition name: (identifier) @name body: (_) @body) @definition.function
(decorated_definition definition: (_) @wrapped) @wrapper
(assignment left: (identifier) @name) @definition.variable
(assignment left: (pattern_list (identifier) @name)) @definition.variable
(type_alias_statement left: (type [(identifier) @name (generic_type . (identifier) @name)])) @definition.type

(call function: [
  (identifier) @reference.call
  (attribute object: (_) @receiver attribute: (identifier) @reference.call)])

(type [
  (identifier) @reference.type
  (attribute object: (_) @receiver attribute: (identifier) @reference.type)
  (generic_type . (identifier) @reference.type)
  (subscript value: (identifier) @reference.type)
  (binary_operator [
    (identifier) @reference.type
    (attribute object: (_) @receiver attribute: (identifier) @reference.type)
    (subscript value: (identifier) @reference.type)])])

(class_definition superclasses: (argument_list [
  (identifier) @reference.extends
  (attribute object: (_) @receiver attribute: (identifier) @reference.extends)
  (subscript value: [
    (identifier) @reference.extends
    (attribute object: (_) @receiver attribute: (identifier) @reference.extends)])
  (call function: (identifier) @reference.extends)
  (keyword_argument value: (identifier) @reference.extends)]))

(decorator [
  (identifier) @reference.decorator
  (attribute object: (_) @receiver attribute: (identifier) @reference.decorator)
  (call function: [
    (identifier) @reference.decorator
    (attribute object: (_) @receiver attribute: (identifier) @reference.decorator)])])

(import_statement name: (dotted_name) @import.module) @import
(import_statement name: (aliased_import name: (_) @import.module alias: (_) @import.namespace)) @import
(import_from_statement module_name: (_) @import.module name: (dotted_name) @import.name) @import
(import_from_statement module_name: (_) @import.module
  name: (aliased_import name: (_) @import.name alias: (_) @import.alias)) @import
(import_from_statement module_name: (_) @import.module (wildcard_import) @import.wildcard) @import
(future_import_statement "__future__" @import.module name: (dotted_name) @import.name) @import
(future_import_statement "__future__" @import.module
  name: (aliased_import name: (_) @import.name alias: (_) @import.alias)) @import
