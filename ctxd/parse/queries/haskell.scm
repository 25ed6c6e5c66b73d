(comment) @skip
(haddock) @skip
(quasiquote) @skip

(header module: (module) @name) @definition.module
(header exports: (exports) @mark.exports)

; Equations of one name become one definition with their signature: the family joins what stands together.
(declarations (bind name: (_) @name) @definition.function)
(declarations (bind name: (_) @name . match: (_) @body) @definition.function)
(declarations (bind pattern: (tuple element: (variable) @name)) @definition.variable)
(declarations (function name: (_) @name) @definition.function)
(declarations (function name: (_) @name . patterns: (_) . match: (_) @body) @definition.function)
(declarations (function (infix operator: (_) @name) . match: (_)? @body) @definition.function)
(declarations (function parens: (_ (infix operator: (_) @name))) @definition.function)
(declarations (signature name: (_) @name) @definition.function)
(declarations (signature names: (binding_list name: (_) @name)) @definition.function)
(declarations (signature name: (_) @name type: [(name) (list) (tuple) (qualified) (literal)]) @definition.constant)
(foreign_import signature: (signature name: (_) @name)) @definition.function
(pattern_synonym (signature synonym: (_) @name)) @definition.function
(pattern_synonym (equation synonym: (_) @name)) @definition.function

(data_type name: (_) @name "="? @body) @definition.struct
(data_type name: (_) @name constructors: (gadt_constructors) @body) @definition.struct
(data_type (infix operator: (_) @name) "="? @body) @definition.struct
(newtype name: (_) @name "="? @body) @definition.struct
(data_constructor constructor: [
  (record name: (_) @name)
  (prefix name: (_) @name)
  (infix operator: (_) @name)]) @definition.constant
(newtype_constructor name: (_) @name) @definition.constant
(gadt_constructor name: (_) @name) @definition.constant
(gadt_constructor names: (binding_list name: (_) @name)) @definition.constant
(field name: (field_name) @name) @definition.field
(type_synomym name: (_) @name) @definition.type
(type_synomym (infix operator: (_) @name)) @definition.type
(type_family name: (_) @name closed_family: (_)? @body) @definition.type
(type_family (infix operator: (_) @name)) @definition.type
(type_instance name: (_) @name) @definition.type
(data_family name: (_) @name) @definition.type
(kind_signature name: (_) @name) @definition.type

(class name: (_) @name "where"? @body) @definition.class
(class (infix operator: (_) @name) "where"? @body) @definition.class
(class_declarations (signature name: (_) @name) @definition.method)
(class_declarations (signature names: (binding_list name: (_) @name)) @definition.method)
(class_declarations (bind name: (_) @name . match: (_)? @body) @definition.method)
(class_declarations (function name: (_) @name) @definition.method)
(class_declarations (function (infix operator: (_) @name)) @definition.method)
(instance name: (_) @name "where"? @body) @definition.class
(instance (infix operator: (_) @name) "where"? @body) @definition.class
(deriving_instance name: (_) @name) @definition.class
(instance_declarations (bind name: (_) @name . match: (_)? @body) @definition.method)
(instance_declarations (function name: (_) @name) @definition.method)
(instance_declarations (function name: (_) @name . patterns: (_) . match: (_) @body) @definition.method)
(instance_declarations (function (infix operator: (_) @name)) @definition.method)

; Types, and what is applied, composed or run.
(name) @reference.type
(apply function: [
  (variable) @reference.call
  (constructor) @reference.call
  (qualified module: (_) @receiver id: [(variable) (constructor)] @reference.call)])
(infix operator: (infix_id [
  (variable) @reference.call
  (qualified module: (_) @receiver id: (variable) @reference.call)]))
((infix operator: [(operator) (constructor_operator)] @reference.call)
  (#not-match? @reference.call "^([-.+*/^:$&<>]|[$]!|<[$]>?|[$]>|<[*]>?|[*]>|>>=?|=<<|>=>|<>|[+][+]|&&|[|][|]|==|/=|<=|>=|!!|<[|]>)$"))
((infix [
  left_operand: [(variable) (constructor)] @reference.call
  left_operand: (qualified module: (_) @receiver id: [(variable) (constructor)] @reference.call)
  right_operand: [(variable) (constructor)] @reference.call
  right_operand: (qualified module: (_) @receiver id: [(variable) (constructor)] @reference.call)]
  operator: (operator) @_glue)
  (#any-of? @_glue "." "$" "<$>" "<*>" "*>" "<*" "<$" ">>=" ">>" "=<<" ">=>" "<|>"))
(exp [
  (variable) @reference.call
  (qualified module: (_) @receiver id: (variable) @reference.call)])
(bind expression: [
  (variable) @reference.call
  (qualified module: (_) @receiver id: (variable) @reference.call)])
(match expression: [
  (variable) @reference.call
  (constructor) @reference.call
  (qualified module: (_) @receiver id: [(variable) (constructor)] @reference.call)])
(deriving classes: [
  (name) @reference.implements
  (_ (name) @reference.implements)
  (_ (qualified module: (_) @receiver id: (name) @reference.implements))])
(instance name: [
  (name) @reference.implements
  (qualified module: (_) @receiver id: (name) @reference.implements)])
(deriving_instance name: [
  (name) @reference.implements
  (qualified module: (_) @receiver id: (name) @reference.implements)])
(class context: (context context: [
  (apply constructor: (name) @reference.extends)
  (_ (apply constructor: (name) @reference.extends))]))

(import module: (_) @import.module) @import
((import "import" @import.wildcard module: (_) @import.module !names) @import
  (#not-match? @import "\\squalified\\s"))
((import module: (_) @import.module names: (_) @import.wildcard) @import (#match? @import "\\shiding\\s*\\("))
(import module: (_) @import.module alias: (_) @import.namespace !names) @import
((import module: (_) @import.module names: (import_list name: (import_name [
  variable: (_) @import.name
  type: (_) @import.name
  operator: (prefix_id (_) @import.name)]))) @import (#not-match? @import "\\shiding\\s*\\("))
