(jsx_opening_element name: [
  (identifier) @reference.call
  (member_expression object: (_) @receiver property: (_) @reference.call)]
  (#match? @reference.call "^[A-Z]"))
(jsx_self_closing_element name: [
  (identifier) @reference.call
  (member_expression object: (_) @receiver property: (_) @reference.call)]
  (#match? @reference.call "^[A-Z]"))
