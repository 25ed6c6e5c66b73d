(line_comment) @skip
(block_comment) @skip
(string_literal) @skip
(raw_string_literal) @skip
(char_literal) @skip

(const_item name: (identifier) @name) @definition.constant
(static_item name: (identifier) @name) @definition.variable
(function_item name: (_) @name body: (_) @body) @definition.function
(function_signature_item name: (_) @name) @definition.function
(struct_item name: (_) @name body: (_)? @body) @definition.struct
(struct_item name: (_) @name body: (ordered_field_declaration_list)) @definition.struct
(union_item name: (_) @name body: (_) @body) @definition.struct
(enum_item name: (_) @name body: (_) @body) @definition.enum
(enum_variant name: (_) @name) @definition.constant
(field_declaration name: (_) @name) @definition.field
(trait_item name: (_) @name body: (_) @body) @definition.trait
(trait_item body: (declaration_list (associated_type name: (_) @name) @definition.type))
(foreign_mod_item body: (declaration_list (associated_type name: (_) @name) @definition.type))
(type_item name: (_) @name) @definition.type
(mod_item name: (_) @name body: (_)? @body) @definition.module
(macro_definition name: (_) @name) @definition.macro
(impl_item type: (_) @name body: (_) @body) @definition.extension
((attribute_item) @wrapper . [(line_comment) (block_comment)]* . (_) @wrapped)

(type_identifier) @reference.type
(scoped_type_identifier path: (_) @receiver name: (_) @reference.type)
(call_expression function: [
  (identifier) @reference.call
  (scoped_identifier path: (_)? @receiver name: (_) @reference.call)
  (field_expression value: (_) @receiver field: (_) @reference.call)
  (generic_function function: [
    (identifier) @reference.call
    (scoped_identifier path: (_)? @receiver name: (_) @reference.call)
    (field_expression value: (_) @receiver field: (_) @reference.call)])])
(macro_invocation macro: [
  (identifier) @reference.call
  (scoped_identifier path: (_)? @receiver name: (_) @reference.call)])
; Calls among the tokens of a macro's arguments.
(token_tree (identifier) @reference.call . (token_tree . "("))
(token_tree [(identifier) (self)] @receiver . ["." "::"] . (identifier) @reference.call . (token_tree . "("))

(trait_item bounds: (trait_bounds [
  (type_identifier) @reference.extends
  (scoped_type_identifier path: (_) @receiver name: (_) @reference.extends)
  (generic_type type: [
    (type_identifier) @reference.extends
    (scoped_type_identifier path: (_) @receiver name: (_) @reference.extends)])]))
(impl_item trait: [
  (type_identifier) @reference.implements
  (scoped_type_identifier path: (_) @receiver name: (_) @reference.implements)
  (generic_type type: [
    (type_identifier) @reference.implements
    (scoped_type_identifier path: (_) @receiver name: (_) @reference.implements)])])
(attribute [
  (identifier) @reference.decorator
  (scoped_identifier path: (_) @receiver name: (_) @reference.decorator)])
((attribute (identifier) @_derive arguments: (token_tree (identifier) @reference.implements))
  (#eq? @_derive "derive"))

(use_declaration argument: (_) @import.clause) @import
(extern_crate_declaration name: (_) @import.module !alias) @import
(extern_crate_declaration name: (_) @import.module alias: (_) @import.namespace) @import
