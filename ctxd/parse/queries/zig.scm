(line_comment) @skip
(doc_comment) @skip
(container_doc_comment) @skip
(STRINGLITERALSINGLE) @skip
(LINESTRING) @skip
(CHAR_LITERAL) @skip

(Decl (VarDecl "var" variable_type_function: (_) @name)) @definition.variable
(Decl (VarDecl "const" variable_type_function: (_) @name)) @definition.constant
(ContainerField field_member: (_) @name) @definition.field
(ContainerDecl (ContainerDeclType "enum") (ContainerField .
  (ErrorUnionExpr . (SuffixExpr . (IDENTIFIER) @name .) .)) @definition.constant)
(ContainerDecl (ContainerDeclType "union") (ContainerField .
  (ErrorUnionExpr . (SuffixExpr . (IDENTIFIER) @name .) .)) @definition.field)
(ErrorSetDecl field_constant: (_) @name @definition.constant)
(Decl (FnProto function: (_) @name) . (Block)? @body) @definition.function
; A function that makes a type is that type.
(Decl (FnProto function: (_) @name . (ParamDeclList) . (ErrorUnionExpr . (SuffixExpr . (BuildinTypeExpr) @_type .) .))
  . (Block) @body (#eq? @_type "type")) @definition.struct
(Decl (VarDecl variable_type_function: (_) @name
  (ErrorUnionExpr . (SuffixExpr . (ContainerDecl (ContainerDeclType "enum") "{" @body))))) @definition.enum
; Among them `union(enum)`.
(Decl (VarDecl variable_type_function: (_) @name
  (ErrorUnionExpr . (SuffixExpr . (ContainerDecl (ContainerDeclType ["struct" "union" "opaque"]) "{" @body))))
) @definition.struct
(Decl (VarDecl variable_type_function: (_) @name
  (ErrorUnionExpr . (SuffixExpr . (ErrorSetDecl "{" @body))))) @definition.enum
(Statement (VarDecl variable_type_function: (_) @name
  (ErrorUnionExpr . (SuffixExpr . (ContainerDecl (ContainerDeclType) "{" @body))))) @definition.struct
(TestDecl [(STRINGLITERALSINGLE) (IDENTIFIER)] @name (Block) @body) @definition.test
("pub" @wrapper.export . (Decl) @wrapped)

(ParamType (ErrorUnionExpr . (SuffixExpr . (IDENTIFIER) @reference.type .)))
(ParamType (ErrorUnionExpr . (SuffixExpr . (IDENTIFIER) @receiver
  (FieldOrFnCall field_access: (IDENTIFIER) @reference.type) .)))
(FnProto (ErrorUnionExpr . (SuffixExpr . (IDENTIFIER) @reference.type .)))
(FnProto (ErrorUnionExpr . (SuffixExpr . (IDENTIFIER) @receiver
  (FieldOrFnCall field_access: (IDENTIFIER) @reference.type) .)))
(ContainerField field_member: (_) (ErrorUnionExpr . (SuffixExpr . (IDENTIFIER) @reference.type .)))
(ContainerField field_member: (_) (ErrorUnionExpr . (SuffixExpr . (IDENTIFIER) @receiver
  (FieldOrFnCall field_access: (IDENTIFIER) @reference.type) .)))
((ErrorUnionExpr . (SuffixExpr . (IDENTIFIER) @reference.type .)) . (InitList))
(SuffixExpr . (IDENTIFIER) @reference.call . (FnCallArguments))
(SuffixExpr (FieldOrFnCall function_call: (_) @reference.call))
(SuffixExpr [
  (IDENTIFIER) @receiver
  (FieldOrFnCall field_access: (_) @receiver)
  (FieldOrFnCall function_call: (_) @receiver)] . (FieldOrFnCall function_call: (_) @reference.call))

(SuffixExpr . (BUILTINIDENTIFIER) @_import . (FnCallArguments . (ErrorUnionExpr . (SuffixExpr . (_) @import.module)))
  (#any-of? @_import "@import" "@cImport" "@embedFile")) @import
(VarDecl variable_type_function: (_) @import.namespace (ErrorUnionExpr . (SuffixExpr .
  (BUILTINIDENTIFIER) @_import . (FnCallArguments . (ErrorUnionExpr . (SuffixExpr . (_) @import.module))) .))
  (#eq? @_import "@import")) @import
(VarDecl variable_type_function: (_) @import.alias (ErrorUnionExpr . (SuffixExpr .
  (BUILTINIDENTIFIER) @_import . (FnCallArguments . (ErrorUnionExpr . (SuffixExpr . (_) @import.module)))
  . (FieldOrFnCall field_access: (_) @import.name) .))
  (#eq? @_import "@import")) @import
(Decl "usingnamespace" @import.wildcard (ErrorUnionExpr . (SuffixExpr .
  (BUILTINIDENTIFIER) @_import . (FnCallArguments . (ErrorUnionExpr . (SuffixExpr . (_) @import.module)))))
  (#eq? @_import "@import")) @import
