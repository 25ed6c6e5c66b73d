(comment) @skip
(string_value) @skip
(directive_location) @skip

(object_type_definition (name) @name (fields_definition)? @body) @definition.type
(interface_type_definition (name) @name (fields_definition)? @body) @definition.interface
(input_object_type_definition (name) @name (input_fields_definition)? @body) @definition.struct
(enum_type_definition (name) @name (enum_values_definition)? @body) @definition.enum
(union_type_definition (name) @name) @definition.type
(scalar_type_definition (name) @name) @definition.type
(directive_definition (name) @name) @definition.macro
(field_definition (name) @name) @definition.field
(input_fields_definition (input_value_definition (name) @name) @definition.field)
(enum_value_definition (enum_value) @name) @definition.constant
(operation_definition (name) @name (selection_set) @body) @definition.function
(fragment_definition (fragment_name) @name (selection_set) @body) @definition.type
(object_type_extension (name) @name) @definition.extension
(interface_type_extension (name) @name) @definition.extension
(input_object_type_extension (name) @name) @definition.extension
(enum_type_extension (name) @name) @definition.extension

(named_type (name) @reference.type)
(implements_interfaces (named_type (name) @reference.implements))
(object_type_extension (name) @reference.extends)
(interface_type_extension (name) @reference.extends)
(input_object_type_extension (name) @reference.extends)
(enum_type_extension (name) @reference.extends)
(union_type_extension (name) @reference.extends)
(directive (name) @reference.decorator)
(fragment_spread (fragment_name) @reference.call)
(field (alias)? (name) @reference.call)
