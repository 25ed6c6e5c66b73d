(comment) @skip
(string) @skip

(structure (value_definition (let_binding pattern: (_) @name) @definition.variable))
(structure (value_definition (let_binding pattern: (_ (tuple_pattern (value_name) @name))) @definition.variable))
(structure (value_definition
  (let_binding pattern: (_) @name . (parameter) body: (_) @body) @definition.function))
(structure (value_definition
  (let_binding pattern: (_) @name body: [(fun_expression) (function_expression)] @body) @definition.function))
(value_definition (attribute_id) (let_binding
  pattern: (string (string_content) @name) body: (_) @body)) @definition.test
(value_specification . [(value_name) (parenthesized_operator)] @name) @definition.variable
(value_specification . [(value_name) (parenthesized_operator)] @name
  type: [(function_type) (polymorphic_type (function_type))]) @definition.function
(external . [(value_name) (parenthesized_operator)] @name) @definition.function

(type_binding name: (type_constructor) @name) @definition.type
(type_binding name: (type_constructor) @name body: (record_declaration) @body) @definition.struct
(type_binding name: (type_constructor) @name body: (variant_declaration) @body) @definition.enum
(type_binding name: (type_constructor) @name equation: (polymorphic_variant_type) @body) @definition.enum
(type_binding name: (type_constructor_path) @name body: (_) @body) @definition.extension
(variant_declaration (constructor_declaration (constructor_name) @name) @definition.constant)
(type_binding equation: (polymorphic_variant_type (tag_specification (tag) @name) @definition.constant))
(field_declaration (field_name) @name) @definition.field
(exception_definition (constructor_declaration . (constructor_name) @name)) @definition.type

(module_binding (module_name) @name) @definition.module
(module_binding (module_name) @name body: (structure) @body) @definition.module
(module_binding (module_name) @name body: (functor) @body) @definition.module
(module_binding (module_name) @name module_type: (signature) @body) @definition.module
(module_type_definition (module_type_name) @name body: (_)? @body) @definition.interface
(class_binding (class_name) @name) @definition.class
(class_binding (class_name) @name body: (_) @body) @definition.class
(class_binding (class_name) @name class_type: (class_body_type) @body) @definition.class
(class_binding (class_name) @name class_type: (class_function_type codomain: (class_body_type) @body)) @definition.class
(class_type_binding (class_type_name) @name body: (_)? @body) @definition.class
(method_definition (method_name) @name) @definition.method
(method_definition (method_name) @name body: (_) @body) @definition.method
(method_specification (method_name) @name) @definition.method
(instance_variable_definition (instance_variable_name) @name) @definition.field
(instance_variable_specification (instance_variable_name) @name) @definition.field

(value_definition (let_binding) @wrapped) @wrapper.line
(type_definition (type_binding) @wrapped) @wrapper.line
(module_definition (module_binding) @wrapped) @wrapper.line
(class_definition (class_binding) @wrapped) @wrapper.line
(class_type_definition (class_type_binding) @wrapped) @wrapper.line

(application_expression function: (value_path . (value_name) @reference.call))
(value_path (module_path) @receiver (value_name) @reference.call)
((infix_expression operator: (_) @_pipe right: (value_path . (value_name) @reference.call)) (#eq? @_pipe "|>"))
((infix_expression left: (value_path . (value_name) @reference.call) operator: (_) @_apply) (#eq? @_apply "@@"))
(constructor_path . (constructor_name) @reference.call)
(constructor_path (module_path) @receiver (constructor_name) @reference.call)
(new_expression (class_path (module_path)? @receiver (class_name) @reference.call))
(method_invocation object: (_) @receiver method: (method_name) @reference.call)
(module_application functor: (module_path (module_name) @reference.call .))
(module_application functor: (module_path (module_path) @receiver (module_name) @reference.call .))
(include_module module: (module_application
  functor: (module_path (module_path)? @receiver (module_name) @reference.extends .)))
(type_constructor_path . (type_constructor) @reference.type)
(type_constructor_path (extended_module_path) @receiver (type_constructor) @reference.type)
(module_type_path (module_type_name) @reference.type)
(module_type_path (extended_module_path) @receiver (module_type_name) @reference.type)
(module_binding module_type: (module_type_path
  (extended_module_path)? @receiver (module_type_name) @reference.implements))
(include_module module: (module_path (module_path)? @receiver (module_name) @reference.extends .))
(include_module_type module_type: (module_type_path
  (extended_module_path)? @receiver (module_type_name) @reference.extends))
(include_module_type module_type: (module_type_constraint module_type: (module_type_path
  (extended_module_path)? @receiver (module_type_name) @reference.extends)))
(inheritance_definition class: (class_path (module_path)? @receiver (class_name) @reference.extends))
(inheritance_specification (class_type_path (extended_module_path)? @receiver (class_type_name) @reference.extends))
((item_attribute (attribute_id) @_deriving (attribute_payload (expression_item [
  (value_path (value_name) @reference.decorator)
  (tuple_expression (value_path (value_name) @reference.decorator))]))) (#eq? @_deriving "deriving"))

(open_module "open" @import.wildcard module: (module_path) @import.module) @import
(include_module "include" @import.wildcard module: (module_path) @import.module) @import
