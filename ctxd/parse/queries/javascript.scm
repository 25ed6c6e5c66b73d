; inherits: ecma jsx
(field_definition property: (_) @name) @definition.field
(field_definition property: (_) @name value: [
  (arrow_function body: (_) @body)
  (function_expression body: (_) @body)]) @definition.method
(class_heritage [
  (identifier) @reference.extends
  (member_expression object: (_) @receiver property: (_) @reference.extends)
  (call_expression function: (identifier) @reference.extends)])
