[(line_comment) (multiline_comment)] @skip
[(string_literal) (character_literal)] @skip

(class_declaration "class" (type_identifier) @name) @definition.class
(class_declaration "class" (type_identifier) @name (class_body) @body) @definition.class
(class_declaration "class" (type_identifier) @name (delegation_specifier (explicit_delegation (call_expression
  (call_suffix (annotated_lambda (lambda_literal "{" @body))))))) @definition.class
(class_declaration "interface" (type_identifier) @name) @definition.interface
(class_declaration "interface" (type_identifier) @name (class_body) @body) @definition.interface
(class_declaration "enum" (type_identifier) @name) @definition.enum
(class_declaration "enum" (type_identifier) @name (enum_class_body) @body) @definition.enum
(enum_entry . (simple_identifier) @name (class_body)? @body) @definition.constant
(enum_entry . (modifiers) . (simple_identifier) @name (class_body)? @body) @definition.constant
(object_declaration (type_identifier) @name) @definition.class
(object_declaration (type_identifier) @name (class_body) @body) @definition.class
; A companion without a name owns nothing: its members are called on the class around it.
(companion_object (type_identifier) @name) @definition.class
(companion_object (type_identifier) @name (class_body) @body) @definition.class
(class_parameter (binding_pattern_kind) (simple_identifier) @name) @definition.field
(secondary_constructor "constructor" @name) @definition.method
(secondary_constructor "constructor" @name "{" @body) @definition.method
(type_alias . (type_identifier) @name) @definition.type
(type_alias . (modifiers) . (type_identifier) @name) @definition.type
(function_declaration (simple_identifier) @name) @definition.function
(function_declaration (simple_identifier) @name (function_body) @body) @definition.function
(source_file (function_declaration (receiver_type [
  (user_type (type_identifier) @owner .)
  (user_type (type_identifier) @owner . (type_arguments) .)
  (nullable_type (user_type (type_identifier) @owner .))
  (nullable_type (user_type (type_identifier) @owner . (type_arguments) .))])
  (simple_identifier) @name) @definition.function)
(source_file (function_declaration (receiver_type [
  (user_type (type_identifier) @owner .)
  (user_type (type_identifier) @owner . (type_arguments) .)
  (nullable_type (user_type (type_identifier) @owner .))
  (nullable_type (user_type (type_identifier) @owner . (type_arguments) .))])
  (simple_identifier) @name (function_body) @body) @definition.function)

; Properties where they are no locals, with the accessors below them.
(source_file (property_declaration [
  (variable_declaration (simple_identifier) @name)
  (multi_variable_declaration (variable_declaration (simple_identifier) @name))]) @definition.variable)
(source_file (property_declaration (receiver_type [
  (user_type (type_identifier) @owner .)
  (user_type (type_identifier) @owner . (type_arguments) .)
  (nullable_type (user_type (type_identifier) @owner .))])
  (variable_declaration (simple_identifier) @name)) @definition.field)
(class_body (property_declaration [
  (variable_declaration (simple_identifier) @name)
  (multi_variable_declaration (variable_declaration (simple_identifier) @name))]) @definition.field)
(enum_class_body (property_declaration (variable_declaration (simple_identifier) @name)) @definition.field)
; A class under annotations is now and then read as an expression, without an error.
(prefix_expression (annotation) (infix_expression)) @mark.expression
(source_file [(getter) (setter)] @mark.accessor)
(class_body [(getter) (setter)] @mark.accessor)
(enum_class_body [(getter) (setter)] @mark.accessor)
; `class A : B by b { ... }`: the body is read as a lambda that b is called with.
(explicit_delegation (call_expression (call_suffix (annotated_lambda (lambda_literal (statements
  (property_declaration (variable_declaration (simple_identifier) @name)) @definition.field))))))

(user_type (type_identifier) @reference.type .)
(user_type (type_identifier) @reference.type . (type_arguments))
(call_expression . (simple_identifier) @reference.call)
(call_expression . (navigation_expression (_) @receiver (navigation_suffix (simple_identifier) @reference.call)))
(callable_reference (simple_identifier) @reference.call .)
(callable_reference (type_identifier) @receiver (simple_identifier) @reference.call .)
(infix_expression . (_) @receiver . (simple_identifier) @reference.call . (_))
(constructor_invocation (user_type (type_identifier) @reference.call .))
(constructor_invocation (user_type (type_identifier) @reference.call . (type_arguments) .))
(class_declaration "class" (delegation_specifier [
  (user_type (type_identifier) @reference.implements .)
  (user_type (type_identifier) @reference.implements . (type_arguments) .)
  (explicit_delegation (user_type (type_identifier) @reference.implements .))
  (explicit_delegation (user_type (type_identifier) @reference.implements . (type_arguments) .))]))
([(object_declaration (delegation_specifier (user_type (type_identifier) @reference.implements .)))
  (object_declaration (delegation_specifier (user_type (type_identifier) @reference.implements . (type_arguments) .)))
  (companion_object (delegation_specifier (user_type (type_identifier) @reference.implements .)))
  (companion_object (delegation_specifier (user_type (type_identifier) @reference.implements . (type_arguments) .)))
  (object_literal (delegation_specifier (user_type (type_identifier) @reference.implements .)))
  (object_literal (delegation_specifier (user_type (type_identifier) @reference.implements . (type_arguments) .)))])
(class_declaration "interface" (delegation_specifier [
  (user_type (type_identifier) @reference.extends .)
  (user_type (type_identifier) @reference.extends . (type_arguments) .)]))
(delegation_specifier (constructor_invocation [
  (user_type (type_identifier) @reference.extends .)
  (user_type (type_identifier) @reference.extends . (type_arguments) .)]))
(file_annotation (constructor_invocation (user_type (type_identifier) @reference.decorator .)))
(annotation [
  (user_type (type_identifier) @reference.decorator .)
  (constructor_invocation (user_type (type_identifier) @reference.decorator .))])

(import_header) @import @import.clause
