; inherits: cxx
(export_declaration (declaration declarator: (_) @name) @definition.variable)
(export_declaration (_) @wrapped) @wrapper
