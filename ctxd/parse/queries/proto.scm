(comment) @skip
(string) @skip

(message (message_name) @name (message_body) @body) @definition.struct
(enum (enum_name) @name (enum_body) @body) @definition.enum
(enum_field . (identifier) @name) @definition.constant
(field (type) . (identifier) @name) @definition.field
(map_field (type) . (identifier) @name) @definition.field
(oneof_field (type) . (identifier) @name) @definition.field
(oneof (identifier) @name "{" @body) @definition.field
(service (service_name) @name "{" @body) @definition.interface
(rpc (rpc_name) @name "{"? @body) @definition.method
(extend (full_ident) @name (message_body) @body) @definition.extension

(message_or_enum_type (identifier) @reference.type .)

(import "import" @import.wildcard path: (_) @import.module) @import
