[(comment) (documentation_comment)] @skip
(string_literal) @skip

; A body is a sibling of its signature.
(class_definition name: (_) @name body: (_) @body) @definition.class
(class_definition (mixin_application_class . (identifier) @name)) @definition.class
(mixin_declaration (identifier) @name (class_body) @body) @definition.class
(extension_declaration name: (_) @name body: (_) @body) @definition.class
(extension_declaration !name class: (type_identifier) @name) @definition.extension
(extension_type_declaration name: (_) @name body: (_) @body) @definition.class
(extension_type_declaration (representation_declaration name: (_) @name) @definition.field)
(enum_declaration name: (_) @name body: (_) @body) @definition.enum
(enum_constant name: (_) @name) @definition.constant
(type_alias (type_identifier) @name "=") @definition.type
(type_alias (type_identifier) @name . (formal_parameter_list)) @definition.type
(type_alias (type_identifier) @name . (type_parameters) . (formal_parameter_list)) @definition.type
(function_signature name: (_) @name) @definition.function
((function_signature name: (_) @name) @definition.function . (function_body) @body @end)
(getter_signature name: (_) @name) @definition.function
((getter_signature name: (_) @name) @definition.function . (function_body) @body @end)
(setter_signature name: (_) @name) @definition.function
((setter_signature name: (_) @name) @definition.function . (function_body) @body @end)
(local_function_declaration (lambda_expression
  parameters: (function_signature name: (_) @name) body: (_) @body)) @definition.function
(declaration (function_signature name: (_) @name)) @definition.method
(declaration (getter_signature name: (_) @name)) @definition.method
(declaration (setter_signature name: (_) @name)) @definition.method
(declaration (operator_signature "operator" @name . _ @name (formal_parameter_list))) @definition.method
(declaration [
  (constructor_signature (identifier) @name . (formal_parameter_list))
  (constant_constructor_signature (identifier) @name . (formal_parameter_list))
  (redirecting_factory_constructor_signature (identifier) @name . (formal_parameter_list))
  (factory_constructor_signature (identifier) @name . (formal_parameter_list))]) @definition.method
((method_signature (function_signature name: (_) @name)) @definition.method . (function_body) @body @end)
((method_signature (getter_signature name: (_) @name)) @definition.method . (function_body) @body @end)
((method_signature (setter_signature name: (_) @name)) @definition.method . (function_body) @body @end)
((method_signature (operator_signature "operator" @name . _ @name (formal_parameter_list))) @definition.method
  . (function_body) @body @end)
((method_signature [
  (constructor_signature (identifier) @name . (formal_parameter_list))
  (factory_constructor_signature (identifier) @name . (formal_parameter_list))]) @definition.method
  . (function_body) @body @end)
(declaration (initialized_identifier_list (initialized_identifier . (identifier) @name))) @definition.field
(declaration (static_final_declaration_list (static_final_declaration . (identifier) @name))) @definition.field
(declaration (identifier_list (identifier) @name)) @definition.field
(program (static_final_declaration_list (static_final_declaration . (identifier) @name) @definition.variable))
(program (initialized_identifier_list (initialized_identifier . (identifier) @name) @definition.variable))

(class_body (annotation) @wrapper . (_) @wrapped)
(extension_body (annotation) @wrapper . (_) @wrapped)
(enum_body (annotation) @wrapper . (_) @wrapped)
(program (annotation) @wrapper . (_) @wrapped)
(program "external" @wrapper.line . [(function_signature) (getter_signature) (setter_signature)] @wrapped)

(type_identifier) @reference.type
(new_expression (type_identifier) @reference.call . (arguments))
(const_object_expression (type_identifier) @reference.call . (arguments))
((identifier) @reference.call . (selector (argument_part)))
((selector [
  (unconditional_assignable_selector (identifier) @reference.call)
  (conditional_assignable_selector (identifier) @reference.call)]) . (selector (argument_part)))
((super) . (unconditional_assignable_selector (identifier) @reference.call) . (selector (argument_part)))
(cascade_section (cascade_selector (identifier) @reference.call) . (argument_part))
(superclass (type_identifier) @reference.extends)
(mixins (type_identifier) @reference.extends)
(interfaces (type_identifier) @reference.implements)
(mixin_application_class (mixin_application . (type_identifier) @reference.extends))
(annotation name: [
  (identifier) @reference.decorator
  (scoped_identifier scope: (_) @receiver name: (_) @reference.decorator)])

(library_import) @import @import.clause
(library_export) @import @import.clause
(part_directive (uri) @import.module) @import
