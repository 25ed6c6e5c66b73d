; inherits: c
(implementation_definition (declaration declarator: (_) @name) @definition.variable)
(property_declaration (struct_declaration (struct_declarator (_) @name))) @definition.field
(instance_variable (struct_declaration (struct_declarator (_) @name))) @definition.field
(method_declaration . (method_type)? . (identifier) @name) @definition.method
(method_definition . (method_type)? . (identifier) @name (compound_statement) @body) @definition.method
(protocol_declaration . (identifier) @name) @definition.interface
(class_interface . (identifier) @name) @definition.class
(class_implementation . (identifier) @name) @definition.class
; Categories, and the extension of a class without a name.
(class_interface . (identifier) @name "(") @definition.extension
(class_implementation . (identifier) @name category: (_)) @definition.extension

(message_expression receiver: (_) @receiver . method: (identifier) @reference.call)
(class_interface superclass: (identifier) @reference.extends)
(class_interface superclass: (_) . (parameterized_arguments (type_name (type_identifier) @reference.implements)))
(class_interface category: (_) . (parameterized_arguments (type_name (type_identifier) @reference.implements)))
(protocol_reference_list (identifier) @reference.extends)

(module_import path: (_) @import.module) @import
