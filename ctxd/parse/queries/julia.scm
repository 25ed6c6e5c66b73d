(line_comment) @skip
(block_comment) @skip
(string_literal) @skip
(using_statement) @skip
(import_statement) @skip

(module_definition name: (_) @name (block)? @body) @definition.module
(function_definition (signature . (_) @name) "end" @body) @definition.function
(function_definition (signature . (_) @name) (block) @body) @definition.function
(macro_definition (signature . (_) @name) "end" @body) @definition.macro
(macro_definition (signature . (_) @name) (block) @body) @definition.macro
(struct_definition (type_head . (_) @name) "end" @body) @definition.struct
(struct_definition (type_head . (_) @name) (block) @body) @definition.struct
(abstract_definition (type_head . (_) @name) "end" @body) @definition.type
(primitive_definition (type_head . (_) @name) (integer_literal) @body) @definition.type
(assignment . (identifier) @name) @definition.variable
(assignment . (typed_expression . (identifier) @name)) @definition.variable
(assignment . (open_tuple (identifier) @name)) @definition.variable
(const_statement (assignment . (identifier) @name)) @definition.constant
(const_statement (assignment . (typed_expression . (identifier) @name))) @definition.constant
(assignment . (parametrized_type_expression) @name (operator) @body) @definition.type
(assignment . (identifier) @name (operator) [
  (arrow_function_expression "->" @body)
  (function_definition (block) @body)]) @definition.function
(assignment . [
  (call_expression)
  (where_expression)
  (binary_expression)
  (typed_expression . (call_expression))] @name . (operator) @body) @definition.function
(struct_definition (block (typed_expression . (identifier) @name) @definition.field))
(struct_definition (block (identifier) @name @definition.field))
(struct_definition (block (const_statement [
  (typed_expression . (identifier) @name)
  (assignment . (typed_expression . (identifier) @name))
  (assignment . (identifier) @name)]) @definition.field))

((macrocall_expression (macro_identifier (identifier) @_enum)
  (macro_argument_list . [(identifier) (typed_expression)] @name)) @definition.enum (#eq? @_enum "enum"))
((macrocall_expression (macro_identifier (identifier) @_enum) (macro_argument_list . (_) [
  (identifier) @name @definition.constant
  (assignment . (identifier) @name) @definition.constant
  (assignment (juxtaposition_expression (identifier) @name @definition.constant))
  (compound_statement (block (identifier) @name @definition.constant))
  (compound_statement (block (assignment . (identifier) @name) @definition.constant))]))
  (#eq? @_enum "enum"))
((macrocall_expression (macro_identifier (identifier) @_test) (macro_argument_list . (string_literal) @name))
  @definition.test (#any-of? @_test "testset" "testitem"))

(macrocall_expression (macro_argument_list [
  (struct_definition)
  (function_definition)
  (abstract_definition)
  (macro_definition)
  (module_definition)
  (const_statement)
  (macrocall_expression)
  (assignment . [(call_expression) (where_expression) (typed_expression . (call_expression))])] @wrapped .)) @wrapper
(global_statement (_) @wrapped) @wrapper
(source_file (string_literal) @wrapper . (_) @wrapped)
(source_file (prefixed_string_literal) @wrapper . (_) @wrapped)
(block (string_literal) @wrapper . (_) @wrapped)

(export_statement [
  (identifier) @export.name
  (operator) @export.name
  (macro_identifier (identifier) @export.name)])
(public_statement [
  (identifier) @export.name
  (operator) @export.name
  (macro_identifier (identifier) @export.name)])

(typed_expression (_) . [
  (identifier) @reference.type
  (field_expression value: (_) @receiver (identifier) @reference.type .)
  (parametrized_type_expression . (identifier) @reference.type)] .)
(unary_typed_expression [
  (identifier) @reference.type
  (field_expression value: (_) @receiver (identifier) @reference.type .)
  (parametrized_type_expression . (identifier) @reference.type)])
(curly_expression (identifier) @reference.type)
(type_head (binary_expression (operator) . [
  (identifier) @reference.extends
  (field_expression value: (_) @receiver (identifier) @reference.extends .)
  (parametrized_type_expression . (identifier) @reference.extends)] .))
(call_expression . [
  (identifier) @reference.call
  (field_expression value: (_) @receiver (identifier) @reference.call .)
  (parametrized_type_expression . (identifier) @reference.call)])
(broadcast_call_expression . [
  (identifier) @reference.call
  (field_expression value: (_) @receiver (identifier) @reference.call .)])
(macrocall_expression . [
  (macro_identifier (identifier) @reference.call)
  (field_expression (_) @receiver (macro_identifier (identifier) @reference.call))])

(using_statement "using" @import.wildcard [(identifier) (import_path)] @import.module) @import
(import_statement [(identifier) (import_path)] @import.module) @import
(import_statement (import_alias . (_) @import.module (identifier) @import.namespace)) @import
(_ (selected_import . (_) @import.module [
  (identifier) @import.name
  (operator) @import.name
  (macro_identifier (identifier) @import.name)])) @import
(_ (selected_import . (_) @import.module (import_alias . (_) @import.name (identifier) @import.alias))) @import
((call_expression . (identifier) @_include @import.wildcard
  (argument_list . (string_literal (content) @import.module) .)) @import (#eq? @_include "include"))
