/* SPDX-License-Identifier: Apache-2.0
 *
 * p4.y: the grammar of P4_16.
 *
 * It follows the specification's appendix, with these differences, none of which changes the
 * language:
 *
 *   - A statement starts with a 'postfix' expression; what may be called or assigned to is decided
 *     in the action, where a good message can be given. That leaves one expression grammar.
 *   - '<' that opens type arguments and '>' that closes a width are tokens of their own (tokens.h).
 *   - Annotations are single tokens, and declarations take them in front in one place.
 *
 * Scopes. What a name means changes while the text is read, and the lookahead token may have been
 * read before an action runs. So a scope is entered and left only in states where bison needs no
 * lookahead, and each entered scope is a value on the parser's stack: <mark> or <open>. When error
 * recovery pops it, its destructor leaves the scope.
 *
 * Errors. Each list (declarations, statements, fields, states, properties...) goes on after a ';'
 * or a skipped {...} group, and each '{' list can be closed by an error: see 'close'.
 */
%code requires {
#include "compiler/syntax/build.h"
}

%code {
static int p4_lex(P4_STYPE *value, P4_LTYPE *at, struct parser *p);
static void p4_error(const P4_LTYPE *at, struct parser *p, const char *message);

#define YYLLOC_DEFAULT(whole, rhs, n)                                                              \
    ((whole) = (n) ? loc_span(YYRHSLOC(rhs, 1), YYRHSLOC(rhs, n)) : loc_after(YYRHSLOC(rhs, 0)))
#define YYMAXDEPTH 30000
#define BINARY(op, result, at, a, b) ((result) = expr_binary(p, (at), (op), (a), (b)))
}

%define api.pure full
%define api.prefix {p4_}
%define api.token.prefix {TOK_}
%define api.location.type {struct loc}
%define parse.error custom
%define parse.lac full
%locations
%param {struct parser *p}
%expect 0

%union {
    const struct token *tok;
    struct name name;
    struct scope_mark mark;
    struct open_decl open;
    struct expr *expr;
    expr_vec *exprs;
    struct arg *arg;
    arg_vec *args;
    struct stmt *stmt;
    stmt_vec *stmts;
    struct decl *decl;
    decl_vec *decls;
    struct tref *tref;
    tref_vec *trefs;
    struct annotation *annot;
    annot_vec *annots;
    struct select *select;
    struct select_case *select_case;
    struct switch_case *switch_case;
    struct table *table;
    struct table_entry *entry;
    struct declarator declarator;
    enum direction dir;
    bool flag;
    int op;
}

%destructor { scope_leave(p->scope, $$); } <mark>
%destructor { scope_leave(p->scope, $$.mark); } <open>

%token START_PROGRAM START_ARGUMENTS
%token UNEXPECTED "unexpected character" SKIPPED "skipped group" UNWIND "end of scope"
%token PRAGMA END_PRAGMA
%token <annot> ANNOTATION "annotation"
%token <tok> IDENTIFIER "identifier" TYPE_IDENTIFIER "type name"
%token <tok> INTEGER "integer" STRING "string literal"

%token MASK "&&&" DOTS "..." RANGE ".." SHL "<<" AND "&&" OR "||" EQ "==" NE "!=" GE ">=" LE "<="
%token CONCAT "++" PLUS_SAT "|+|" MINUS_SAT "|-|" PLUS_COLON "+:" INVALID "{#}" DONTCARE "_"
%token PLUS_ASSIGN "+=" MINUS_ASSIGN "-=" MUL_ASSIGN "*=" DIV_ASSIGN "/=" MOD_ASSIGN "%="
%token AND_ASSIGN "&=" OR_ASSIGN "|=" XOR_ASSIGN "^=" SHL_ASSIGN "<<=" SHR_ASSIGN ">>="
%token PLUS_SAT_ASSIGN "|+|=" MINUS_SAT_ASSIGN "|-|="
%token LT "<" GT ">"
%token ARGS_OPEN "< of types" ARGS_CLOSE "> of types" GT_GT "> before >" VALUE_CLOSE "} of a value"

%token ABSTRACT "abstract" ACTION "action" BIT "bit" BOOL "bool" BREAK "break" CONST "const"
%token CONTINUE "continue" CONTROL "control" DEFAULT "default" ELSE "else" ENUM "enum"
%token ERROR "error" EXIT "exit" EXTERN "extern" FALSE "false" FOR "for" HEADER "header"
%token HEADER_UNION "header_union" IF "if" IN "in" INOUT "inout" INT "int" MATCH_KIND "match_kind"
%token OUT "out" PACKAGE "package" PARSER "parser" RETURN "return" SELECT "select"
%token STRING_TYPE "string" STRUCT "struct" SWITCH "switch" TABLE "table" THIS "this"
%token TRANSITION "transition" TRUE "true" TUPLE "tuple" TYPEDEF "typedef" VALUE_SET "value_set"
%token VARBIT "varbit" VOID "void"
%token <tok> ACTIONS "actions" APPLY "apply" ENTRIES "entries" KEY "key" LIST "list"
%token <tok> PRIORITY "priority" STATE "state" TYPE "type"

%type <name> name nonTypeName nonTableKwName
%type <annots> annotations optAnnotations
%type <decl> declaration bareDeclaration constant instantiation errorDeclaration
%type <decl> matchKindDeclaration function externDeclaration actionDeclaration tableDeclaration
%type <decl> parserDeclaration controlDeclaration typeDeclaration derivedType typedefDeclaration
%type <decl> annotatedDerivedType enumDeclaration variable parameter bareParameter field bareField
%type <decl> method bareMethod objDeclaration state valueSet controlLocal parserLocal
%type <decl> bareControlLocal bareParserLocal loopVariable
%type <decls> optTypeParams typeParams params paramList optCtorParams fields methods names nameList
%type <decls> specifiedNames specifiedList objDeclarations optObjInitializer controlLocals parserLocals
%type <open> prototype parserHead controlHead packageHead structHead externHead functionName
%type <open> parserName controlName packageName actionName stateName
%type <tref> typeRef baseType namedType typeName typeOrVoid typeArg realTypeArg
%type <trefs> typeArgs realTypeArgs
%type <expr> expression postfix braced optInitializer width action_ref keyset simpleKeyset
%type <expr> reducedKeyset switchLabel priority collection
%type <exprs> expressions expressionList keysets
%type <args> arguments argumentList pairs members
%type <arg> argument pair dots
%type <stmt> statement assignmentOrCall conditional block forStatement transition localOrStatement
%type <stmt> initStatement bareLocal
%type <stmts> statements initStatements updateStatements initList updateList
%type <select> selectCases
%type <select_case> selectCase
%type <stmt> switchCases
%type <switch_case> switchCase
%type <table> tableBody keys actions entries
%type <entry> entry
%type <declarator> declarator
%type <dir> direction
%type <flag> optConst
%type <op> assignOp
%type <mark> enter

%precedence FALLTHROUGH
%precedence '{'
%right "?:" '?'
%left "||"
%left "&&"
%left "==" "!="
%left "<" ">" "<=" ">="
%left '|'
%left '^'
%left '&'
%left "<<" GT_GT
%left "++" '+' '-' "|+|" "|-|"
%left '*' '/' '%'
%precedence PREFIX
%precedence THEN
%precedence "else"

%%

start
    : START_PROGRAM program
    | START_ARGUMENTS expressionList { annotation_args(p, $2); }
    | START_ARGUMENTS members       { annotation_pairs(p, $2); }
    ;

program
    : %empty
    | program declaration           { program_add(p, $2); }
    | program ';'
    | program error ';'             { tokens_recovered(p); yyerrok; }
    | program error '}'             { tokens_recovered(p); yyerrok; }
    | program error SKIPPED         { tokens_recovered(p); yyerrok; }
    | program error UNWIND          { yyerrok; }
    ;

// The end of a list in braces. A list that breaks off in the middle of an element is closed by the
// brace all the same; UNWIND stands for a brace that was forgotten.
close
    : '}'
    | error '}'                     { tokens_recovered(p); yyerrok; }
    | error UNWIND                  { yyerrok; }
    ;

enter
    : %empty                        { $$ = scope_enter(p->scope); }
    ;

declaration
    : bareDeclaration
    | annotations bareDeclaration   { $$ = decl_annotate($2, $1); }
    ;

bareDeclaration
    : constant
    | externDeclaration
    | actionDeclaration
    | parserDeclaration
    | controlDeclaration
    | typeDeclaration
    | instantiation
    | errorDeclaration
    | matchKindDeclaration
    | function
    ;

// ------------------------------------------------------------------------------------ names

nonTypeName
    : IDENTIFIER                    { $$ = name_of(p, $1); }
    | ACTIONS                       { $$ = name_of(p, $1); }
    | APPLY                         { $$ = name_of(p, $1); }
    | ENTRIES                       { $$ = name_of(p, $1); }
    | KEY                           { $$ = name_of(p, $1); }
    | PRIORITY                      { $$ = name_of(p, $1); }
    | STATE                         { $$ = name_of(p, $1); }
    | TYPE                          { $$ = name_of(p, $1); }
    ;

name
    : nonTypeName
    | LIST                          { $$ = name_of(p, $1); }
    | TYPE_IDENTIFIER               { $$ = name_of(p, $1); }
    ;

nonTableKwName
    : IDENTIFIER                    { $$ = name_of(p, $1); }
    | TYPE_IDENTIFIER               { $$ = name_of(p, $1); }
    | APPLY                         { $$ = name_of(p, $1); }
    | PRIORITY                      { $$ = name_of(p, $1); }
    | STATE                         { $$ = name_of(p, $1); }
    | TYPE                          { $$ = name_of(p, $1); }
    ;

names
    : name                          { $$ = decls_one(p, decl_enumerator(p, @1, $1, NULL)); }
    | names ',' name                { $$ = decls_add(p, $1, decl_enumerator(p, @3, $3, NULL)); }
    ;

nameList
    : names
    | names ','
    ;

optAnnotations
    : %empty                        { $$ = NULL; }
    | annotations
    ;

annotations
    : ANNOTATION                    { $$ = annots_add(p, NULL, $1); }
    | annotations ANNOTATION        { $$ = annots_add(p, $1, $2); }
    ;

optConst
    : %empty                        { $$ = false; }
    | CONST                         { $$ = true; }
    ;

// ------------------------------------------------------------------------------------ types

typeRef
    : baseType
    | namedType
    | typeRef '[' expression ']'    { $$ = tref_stack(p, @$, $1, $3); }
    | TUPLE langle typeArgs rangle  { $$ = tref_args(p, @$, TR_TUPLE, $3); }
    | LIST langle typeArg rangle    { $$ = tref_list(p, @$, $3); }
    ;

namedType
    : typeName
    | typeName langle typeArgs rangle { $$ = tref_specialize(p, @$, $1, $3); }
    ;

typeName
    : TYPE_IDENTIFIER               { $$ = tref_name(p, @$, name_of(p, $1), false); }
    | '.' TYPE_IDENTIFIER           { $$ = tref_name(p, @$, name_of(p, $2), true); }
    ;

baseType
    : BOOL                          { $$ = tref_base(p, @$, BT_BOOL); }
    | ERROR                         { $$ = tref_base(p, @$, BT_ERROR); }
    | MATCH_KIND                    { $$ = tref_base(p, @$, BT_MATCH_KIND); }
    | STRING_TYPE                   { $$ = tref_base(p, @$, BT_STRING); }
    | INT                           { $$ = tref_base(p, @$, BT_INT); }
    | BIT                           { $$ = tref_width(p, @$, TR_BIT, NULL); }
    | BIT width                     { $$ = tref_width(p, @$, TR_BIT, $2); }
    | INT width                     { $$ = tref_width(p, @$, TR_INT, $2); }
    | VARBIT width                  { $$ = tref_width(p, @$, TR_VARBIT, $2); }
    ;

width
    : ARGS_OPEN expression ARGS_CLOSE { $$ = $2; }
    ;

typeOrVoid
    : typeRef
    | VOID                          { $$ = tref_base(p, @$, BT_VOID); }
    | IDENTIFIER                    { $$ = tref_name(p, @$, name_of(p, $1), false); }
    ;

realTypeArg
    : typeRef
    | VOID                          { $$ = tref_base(p, @$, BT_VOID); }
    | DONTCARE                      { $$ = tref_dontcare(p, @$); }
    ;

typeArg
    : realTypeArg
    | nonTypeName                   { $$ = tref_name(p, @$, $1, false); }
    ;

typeArgs
    : %empty                        { $$ = trefs_add(p, NULL, NULL); }
    | typeArg                       { $$ = trefs_add(p, NULL, $1); }
    | typeArgs ',' typeArg          { $$ = trefs_add(p, $1, $3); }
    ;

realTypeArgs
    : realTypeArg                   { $$ = trefs_add(p, NULL, $1); }
    | realTypeArgs ',' typeArg      { $$ = trefs_add(p, $1, $3); }
    ;

langle : "<" | ARGS_OPEN ;
rangle : ">" | GT_GT | ARGS_CLOSE ;

optTypeParams
    : %empty                        { $$ = NULL; }
    | langle typeParams rangle      { $$ = $2; }
    ;

typeParams
    : name                          { $$ = decls_one(p, decl_typevar(p, @1, $1)); }
    | typeParams ',' name           { $$ = decls_add(p, $1, decl_typevar(p, @3, $3)); }
    ;

// A name with C's array suffixes, as in 'bit<8> x[4]'.
declarator
    : name                          { $$ = declarator_of($1); }
    | declarator '[' expression ']' { $$ = declarator_add(p, $1, $3); }
    ;

typeDeclaration
    : derivedType
    | typedefDeclaration ';'
    | parserHead ';'                { $$ = decl_close(p, $1); }
    | controlHead ';'               { $$ = decl_close(p, $1); }
    | packageHead ';'               { $$ = decl_close(p, $1); }
    ;

typedefDeclaration
    : TYPEDEF typeRef declarator    { $$ = decl_typedef(p, @$, D_TYPEDEF, $2, &$3); }
    | TYPEDEF annotatedDerivedType declarator
                                    { $$ = decl_typedef_of(p, @$, $2, &$3); }
    | TYPE typeRef declarator       { $$ = decl_typedef(p, @$, D_NEWTYPE, $2, &$3); }
    ;

annotatedDerivedType
    : derivedType
    | annotations derivedType       { $$ = decl_annotate($2, $1); }
    ;

derivedType
    : structHead optTypeParams '{' fields close
                                    { $$ = decl_struct(p, $1, $2, $4); }
    | enumDeclaration
    ;

structHead
    : HEADER name                   { $$ = open_type(p, @$, D_HEADER, $2); }
    | HEADER_UNION name             { $$ = open_type(p, @$, D_UNION, $2); }
    | STRUCT name                   { $$ = open_type(p, @$, D_STRUCT, $2); }
    ;

fields
    : %empty                        { $$ = decls_new(p); }
    | fields field                  { $$ = decls_add(p, $1, $2); }
    | fields error ';'              { tokens_recovered(p); yyerrok; }
    | fields error SKIPPED          { tokens_recovered(p); yyerrok; }
    ;

field
    : bareField
    | annotations bareField         { $$ = decl_annotate($2, $1); }
    ;

bareField
    : typeRef declarator ';'        { $$ = decl_typed(p, @2, D_FIELD, $1, &$2); }
    ;

enumDeclaration
    : ENUM name '{' nameList close
                                    { $$ = decl_enum(p, @$, $2, NULL, $4); }
    | ENUM typeRef name '{' specifiedList close
                                    { $$ = decl_enum(p, @$, $3, $2, $5); }
    ;

specifiedList
    : specifiedNames
    | specifiedNames ','
    ;

specifiedNames
    : name '=' expression           { $$ = decls_one(p, decl_enumerator(p, @1, $1, $3)); }
    | specifiedNames ',' name '=' expression
                                    { $$ = decls_add(p, $1, decl_enumerator(p, @3, $3, $5)); }
    ;

errorDeclaration
    : ERROR '{' names close         { $$ = decl_names(p, @1, D_ERROR, $3); }
    ;

matchKindDeclaration
    : MATCH_KIND '{' nameList close { $$ = decl_names(p, @1, D_MATCH_KIND, $3); }
    ;

// ------------------------------------------------------------------------------------ parameters

params
    : paramsOpen paramList ')'      { $$ = declare_params(p, $2); }
    | paramsOpen ')'                { $$ = NULL; }
    | paramsOpen error ')'          { $$ = NULL; tokens_recovered(p); yyerrok; }
    ;

// Tells the token stream: it closes the parameters when their ')' was forgotten.
paramsOpen
    : '('                           { tokens_in_params(p); }
    ;

paramList
    : parameter                     { $$ = decls_one(p, $1); }
    | paramList ',' parameter       { $$ = decls_add(p, $1, $3); }
    ;

parameter
    : bareParameter
    | annotations bareParameter     { $$ = decl_annotate($2, $1); }
    ;

bareParameter
    : direction typeRef declarator  { $$ = decl_param(p, @$, $1, $2, &$3, NULL); }
    | direction typeRef declarator '=' expression
                                    { $$ = decl_param(p, @$, $1, $2, &$3, $5); }
    ;

direction
    : %empty                        { $$ = DIR_NONE; }
    | IN                            { $$ = DIR_IN; }
    | OUT                           { $$ = DIR_OUT; }
    | INOUT                         { $$ = DIR_INOUT; }
    ;

optCtorParams
    : %empty                        { $$ = NULL; }
    | params
    ;

// ------------------------------------------------------------------------------------ blocks

packageHead
    : packageName optTypeParams params { $$ = open_params($1, $2, $3); }
    ;

packageName
    : PACKAGE name                  { $$ = open_type(p, @$, D_PACKAGE, $2); }
    ;

parserHead
    : parserName optTypeParams params { $$ = open_params($1, $2, $3); }
    ;

parserName
    : PARSER name                   { $$ = open_type(p, @$, D_PARSER_TYPE, $2); }
    ;

controlHead
    : controlName optTypeParams params { $$ = open_params($1, $2, $3); }
    ;

controlName
    : CONTROL name                  { $$ = open_type(p, @$, D_CONTROL_TYPE, $2); }
    ;

parserDeclaration
    : parserHead optCtorParams '{' parserLocals close
                                    { $$ = decl_parser(p, $1, $2, $4); }
    ;

// Declarations and states; decl_parser() sorts them.
parserLocals
    : %empty                        { $$ = decls_new(p); }
    | parserLocals parserLocal      { $$ = decls_add(p, $1, $2); }
    | parserLocals error ';'        { tokens_recovered(p); yyerrok; }
    | parserLocals error SKIPPED    { tokens_recovered(p); yyerrok; }
    ;

parserLocal
    : bareParserLocal
    | annotations bareParserLocal   { $$ = decl_annotate($2, $1); }
    ;

bareParserLocal
    : constant
    | instantiation
    | variable ';'
    | valueSet
    | state
    ;

valueSet
    : VALUE_SET langle typeArg rangle '(' expression ')' name ';'
                                    { $$ = decl_value_set(p, @8, $3, $6, $8); }
    ;

state
    : stateName '{' statements close { $$ = decl_state(p, $1, $3, NULL); }
    | stateName '{' statements transition close
                                    { $$ = decl_state(p, $1, $3, $4); }
    ;

stateName
    : STATE name                    { $$ = open_object(p, @$, D_STATE, $2, NULL); }
    ;

transition
    : TRANSITION name ';'           { $$ = stmt_transition(p, @$, $2); }
    | TRANSITION SELECT '(' expressionList ')' '{' selectCases close
                                    { $$ = stmt_select(p, @$, $4, $7); }
    ;

selectCases
    : %empty                        { $$ = select_new(p); }
    | selectCases selectCase        { $$ = select_add(p, $1, $2); }
    | selectCases error ';'         { tokens_recovered(p); yyerrok; }
    | selectCases error SKIPPED     { tokens_recovered(p); yyerrok; }
    ;

selectCase
    : keyset ':' name ';'           { $$ = select_case_of(p, @$, $1, $3); }
    ;

controlDeclaration
    : controlHead optCtorParams '{' controlLocals APPLY block close
                                    { $$ = decl_control(p, $1, $2, $4, $6); }
    | controlHead optCtorParams '{' controlLocals close
                                    { $$ = decl_control(p, $1, $2, $4, NULL); }
    ;

controlLocals
    : %empty                        { $$ = decls_new(p); }
    | controlLocals controlLocal    { $$ = decls_add(p, $1, $2); }
    | controlLocals error ';'       { tokens_recovered(p); yyerrok; }
    | controlLocals error SKIPPED   { tokens_recovered(p); yyerrok; }
    ;

controlLocal
    : bareControlLocal
    | annotations bareControlLocal  { $$ = decl_annotate($2, $1); }
    ;

bareControlLocal
    : constant
    | actionDeclaration
    | tableDeclaration
    | instantiation
    | variable ';'
    ;

actionDeclaration
    : actionName params block       { $$ = decl_body(p, open_params($1, NULL, $2), $3); }
    ;

actionName
    : ACTION name                   { $$ = open_object(p, @$, D_ACTION, $2, NULL); }
    ;

// ------------------------------------------------------------------------------------ externs

externDeclaration
    : externHead optTypeParams '{' methods close
                                    { $$ = decl_extern(p, $1, $2, $4); }
    | EXTERN prototype ';'          { $$ = decl_close(p, $2); }
    | EXTERN nonTypeName ';'        { $$ = decl_extern_forward(p, $2); }
    ;

externHead
    : EXTERN nonTypeName            { $$ = open_type(p, @$, D_EXTERN, $2); }
    ;

methods
    : %empty                        { $$ = decls_new(p); }
    | methods method                { $$ = decls_add(p, $1, $2); }
    | methods error ';'             { tokens_recovered(p); yyerrok; }
    | methods error SKIPPED         { tokens_recovered(p); yyerrok; }
    ;

method
    : bareMethod
    | annotations bareMethod        { $$ = decl_annotate($2, $1); }
    ;

bareMethod
    : prototype ';'                 { $$ = decl_method(p, $1, false); }
    | ABSTRACT prototype ';'        { $$ = decl_method(p, $2, true); }
    | TYPE_IDENTIFIER enter params ';'
                                    { $$ = decl_constructor(p, @1, name_of(p, $1), $2, $3); }
    ;

prototype
    : functionName optTypeParams params { $$ = open_params($1, $2, $3); }
    ;

functionName
    : typeOrVoid name               { $$ = open_object(p, @$, D_FUNCTION, $2, $1); }
    ;

function
    : prototype block               { $$ = decl_body(p, $1, $2); }
    ;

instantiation
    : namedType '(' arguments ')' declarator optObjInitializer ';'
                                    { $$ = decl_instance(p, @$, $1, $3, &$5, $6); }
    ;

optObjInitializer
    : %empty                        { $$ = NULL; }
    | '=' '{' enter objDeclarations close { scope_leave(p->scope, $3); $$ = $4; }
    ;

objDeclarations
    : %empty                        { $$ = decls_new(p); }
    | objDeclarations objDeclaration { $$ = decls_add(p, $1, $2); }
    | objDeclarations error ';'     { tokens_recovered(p); yyerrok; }
    | objDeclarations error SKIPPED { tokens_recovered(p); yyerrok; }
    ;

objDeclaration
    : function
    | instantiation
    | annotations function          { $$ = decl_annotate($2, $1); }
    | annotations instantiation     { $$ = decl_annotate($2, $1); }
    ;

// ------------------------------------------------------------------------------------ tables

tableDeclaration
    : TABLE name '{' tableBody close { $$ = decl_table(p, @2, $2, $4); }
    ;

tableBody
    : %empty                        { $$ = table_new(p); }
    | tableBody KEY '=' '{' keys close
                                    { $$ = table_keys(p, $1, @2, $5); }
    | tableBody ACTIONS '=' '{' actions close
                                    { $$ = table_actions(p, $1, @2, $5); }
    | tableBody optAnnotations optConst ENTRIES '=' '{' entries close
                                    { $$ = table_entries(p, $1, @4, $3, $7); }
    | tableBody optAnnotations optConst nonTableKwName '=' expression ';'
                                    { $$ = table_property(p, $1, $2, $3, $4, $6); }
    | tableBody error ';'           { tokens_recovered(p); yyerrok; }
    | tableBody error SKIPPED       { tokens_recovered(p); yyerrok; }
    ;

keys
    : %empty                        { $$ = table_new(p); }
    | keys expression ':' name optAnnotations ';'
                                    { $$ = table_key_add(p, $1, loc_span(@2, @4), $2, $4, $5); }
    | keys error ';'                { tokens_recovered(p); yyerrok; }
    | keys error SKIPPED            { tokens_recovered(p); yyerrok; }
    ;

actions
    : %empty                        { $$ = table_new(p); }
    | actions optAnnotations action_ref ';'
                                    { $$ = table_action_add(p, $1, $2, $3); }
    | actions error ';'             { tokens_recovered(p); yyerrok; }
    | actions error SKIPPED         { tokens_recovered(p); yyerrok; }
    ;

action_ref
    : nonTypeName                   { $$ = expr_name(p, @$, $1, false); }
    | '.' nonTypeName               { $$ = expr_name(p, @$, $2, true); }
    | nonTypeName '(' arguments ')' { $$ = expr_call(p, @$, expr_name(p, @1, $1, false), NULL, $3); }
    | '.' nonTypeName '(' arguments ')'
                    { $$ = expr_call(p, @$, expr_name(p, loc_span(@1, @2), $2, true), NULL, $4); }
    ;

entries
    : %empty                        { $$ = table_new(p); }
    | entries entry                 { $$ = table_entry_add(p, $1, $2); }
    | entries error ';'             { tokens_recovered(p); yyerrok; }
    | entries error SKIPPED         { tokens_recovered(p); yyerrok; }
    ;

entry
    : optConst keyset ':' action_ref optAnnotations ';'
                    { $$ = table_entry_of(p, loc_span(@2, @4), $1, NULL, $2, $4, $5); }
    | optConst priority keyset ':' action_ref optAnnotations ';'
                    { $$ = table_entry_of(p, loc_span(@2, @5), $1, $2, $3, $5, $6); }
    ;

priority
    : PRIORITY '=' INTEGER ':'      { $$ = expr_integer(p, $3); }
    | PRIORITY '=' '(' expression ')' ':' { $$ = $4; }
    ;

keyset
    : simpleKeyset
    | '(' simpleKeyset ',' keysets ')' { $$ = expr_keysets(p, @$, $2, $4); }
    | '(' reducedKeyset ')'         { $$ = expr_keysets(p, @$, $2, NULL); }
    ;

keysets
    : simpleKeyset                  { $$ = exprs_one(p, $1); }
    | keysets ',' simpleKeyset      { $$ = exprs_add(p, $1, $3); }
    ;

simpleKeyset
    : expression
    | reducedKeyset
    ;

reducedKeyset
    : expression MASK expression    { $$ = expr_pair(p, @$, EX_MASK, $1, $3); }
    | expression RANGE expression   { $$ = expr_pair(p, @$, EX_RANGE, $1, $3); }
    | DEFAULT                       { $$ = expr_leaf(p, @$, EX_DEFAULT); }
    | DONTCARE                      { $$ = expr_leaf(p, @$, EX_DONTCARE); }
    ;

// ------------------------------------------------------------------------------------ statements

constant
    : CONST typeRef declarator '=' expression ';'
                                    { $$ = decl_variable(p, @$, D_CONST, $2, &$3, $5); }
    ;

variable
    : typeRef declarator optInitializer
                                    { $$ = decl_variable(p, @$, D_VAR, $1, &$2, $3); }
    ;

optInitializer
    : %empty                        { $$ = NULL; }
    | '=' expression                { $$ = $2; }
    ;

block
    : '{' enter statements close    { $$ = stmt_block(p, @$, $2, $3, NULL); }
    | annotations '{' enter statements close
                                    { $$ = stmt_block(p, @$, $3, $4, $1); }
    ;

statements
    : %empty                        { $$ = stmts_new(p); }
    | statements localOrStatement   { $$ = stmts_add(p, $1, $2); }
    | statements error ';'          { tokens_recovered(p); yyerrok; }
    | statements error SKIPPED      { tokens_recovered(p); yyerrok; }
    ;

localOrStatement
    : bareLocal
    | annotations bareLocal         { $$ = stmt_annotate_decl($2, $1); }
    | statement
    ;

bareLocal
    : constant                      { $$ = stmt_decl(p, @$, $1); }
    | variable ';'                  { $$ = stmt_decl(p, @$, $1); }
    | instantiation                 { $$ = stmt_decl(p, @$, $1); }
    ;

statement
    : assignmentOrCall ';'
    | ';'                           { $$ = stmt_new(p, @$, ST_EMPTY); }
    | block
    | conditional
    | forStatement
    | annotations forStatement      { $$ = stmt_annotate($2, $1); }
    | RETURN ';'                    { $$ = stmt_return(p, @$, NULL); }
    | RETURN expression ';'         { $$ = stmt_return(p, @$, $2); }
    | BREAK ';'                     { $$ = stmt_new(p, @$, ST_BREAK); }
    | CONTINUE ';'                  { $$ = stmt_new(p, @$, ST_CONTINUE); }
    | EXIT ';'                      { $$ = stmt_new(p, @$, ST_EXIT); }
    | SWITCH '(' expression ')' '{' switchCases close
                                    { $$ = stmt_switch(p, loc_span(@1, @4), $3, $6); }
    ;

assignmentOrCall
    : postfix                       { $$ = stmt_call(p, @$, $1); }
    | postfix assignOp expression   { $$ = stmt_assign(p, @$, $2, $1, $3); }
    ;

assignOp
    : '='                           { $$ = -1; }
    | PLUS_ASSIGN                   { $$ = OP_ADD; }
    | MINUS_ASSIGN                  { $$ = OP_SUB; }
    | MUL_ASSIGN                    { $$ = OP_MUL; }
    | DIV_ASSIGN                    { $$ = OP_DIV; }
    | MOD_ASSIGN                    { $$ = OP_MOD; }
    | AND_ASSIGN                    { $$ = OP_BAND; }
    | OR_ASSIGN                     { $$ = OP_BOR; }
    | XOR_ASSIGN                    { $$ = OP_BXOR; }
    | SHL_ASSIGN                    { $$ = OP_SHL; }
    | SHR_ASSIGN                    { $$ = OP_SHR; }
    | PLUS_SAT_ASSIGN               { $$ = OP_ADD_SAT; }
    | MINUS_SAT_ASSIGN              { $$ = OP_SUB_SAT; }
    ;

conditional
    : IF '(' expression ')' statement %prec THEN
                                    { $$ = stmt_if(p, loc_span(@1, @4), $3, $5, NULL); }
    | IF '(' expression ')' statement ELSE statement
                                    { $$ = stmt_if(p, loc_span(@1, @4), $3, $5, $7); }
    ;

switchCases
    : %empty                        { $$ = stmt_new(p, @$, ST_SWITCH); }
    | switchCases switchCase        { $$ = stmt_switch_add(p, $1, $2); }
    | switchCases error ';'         { tokens_recovered(p); yyerrok; }
    | switchCases error SKIPPED     { tokens_recovered(p); yyerrok; }
    ;

switchCase
    : switchLabel ':' block         { $$ = switch_case_of(p, @1, $1, $3); }
    | switchLabel ':' %prec FALLTHROUGH
                                    { $$ = switch_case_of(p, @1, $1, NULL); }
    ;

switchLabel
    : DEFAULT                       { $$ = expr_leaf(p, @$, EX_DEFAULT); }
    | expression
    ;

forStatement
    : FOR '(' enter initStatements ';' expression ';' updateStatements ')' statement
                    { $$ = stmt_for(p, loc_span(@1, @9), $3, $4, $6, $8, $10); }
    | FOR '(' enter loopVariable IN collection ')' { declare_object(p, $4->name); } statement
                    { $$ = stmt_forin(p, loc_span(@1, @7), $3, $4, $6, $9); }
    ;

loopVariable
    : typeRef name                  { $$ = decl_loop_variable(p, @2, NULL, $1, $2); }
    | annotations typeRef name      { $$ = decl_loop_variable(p, @3, $1, $2, $3); }
    ;

collection
    : expression
    | expression RANGE expression   { $$ = expr_pair(p, @$, EX_RANGE, $1, $3); }
    ;

initStatements
    : %empty                        { $$ = NULL; }
    | initList
    ;

initList
    : initStatement                 { $$ = stmts_add(p, stmts_new(p), $1); }
    | initList ',' initStatement    { $$ = stmts_add(p, $1, $3); }
    ;

initStatement
    : assignmentOrCall
    | variable                      { $$ = stmt_decl(p, @1, $1); }
    | annotations variable          { $$ = stmt_annotate_decl(stmt_decl(p, @2, $2), $1); }
    ;

updateStatements
    : %empty                        { $$ = NULL; }
    | updateList
    ;

updateList
    : assignmentOrCall              { $$ = stmts_add(p, stmts_new(p), $1); }
    | updateList ',' assignmentOrCall { $$ = stmts_add(p, $1, $3); }
    ;

// ------------------------------------------------------------------------------------ expressions

arguments
    : %empty                        { $$ = NULL; }
    | argumentList
    ;

argumentList
    : argument                      { $$ = args_add(p, NULL, $1); }
    | argumentList ',' argument     { $$ = args_add(p, $1, $3); }
    ;

argument
    : expression                    { $$ = arg_of(p, @$, NULL, $1); }
    | DONTCARE                      { $$ = arg_of(p, @$, NULL, expr_leaf(p, @1, EX_DONTCARE)); }
    | pair
    | name '=' DONTCARE             { $$ = arg_of(p, @$, $1.text, expr_leaf(p, @3, EX_DONTCARE)); }
    ;

pair
    : name '=' expression           { $$ = arg_of(p, @$, $1.text, $3); }
    ;

pairs
    : pair                          { $$ = args_add(p, NULL, $1); }
    | pairs ',' pair                { $$ = args_add(p, $1, $3); }
    ;

members
    : pairs
    | pairs ','
    | pairs ',' dots                { $$ = args_add(p, $1, $3); }
    | pairs ',' dots ','            { $$ = args_add(p, $1, $3); }
    ;

dots
    : DOTS                          { $$ = arg_of(p, @$, NULL, expr_leaf(p, @$, EX_DOTS)); }
    ;

expressions
    : expression                    { $$ = exprs_one(p, $1); }
    | expressions ',' expression    { $$ = exprs_add(p, $1, $3); }
    ;

expressionList
    : %empty                        { $$ = NULL; }
    | expressions
    | expressions ','
    ;

// What a statement may start with.
postfix
    : INTEGER                       { $$ = expr_integer(p, $1); }
    | STRING                        { $$ = expr_string(p, $1); }
    | TRUE                          { $$ = expr_bool(p, @$, true); }
    | FALSE                         { $$ = expr_bool(p, @$, false); }
    | THIS                          { $$ = expr_leaf(p, @$, EX_THIS); }
    | nonTypeName                   { $$ = expr_name(p, @$, $1, false); }
    | '.' nonTypeName               { $$ = expr_name(p, @$, $2, true); }
    | '(' expression ')'            { $$ = expr_parenthesised($2, @$); }
    | namedType '.' name            { $$ = expr_member(p, @$, expr_type(p, $1), $3); }
    | ERROR '.' name                { $$ = expr_member(p, @$, expr_type(p, tref_base(p, @1,
                                                                            BT_ERROR)), $3); }
    | postfix '.' name              { $$ = expr_member(p, @$, $1, $3); }
    | postfix '[' expression ']'    { $$ = expr_index(p, @$, $1, $3); }
    | postfix '[' expression ':' expression ']'
                                    { $$ = expr_slice(p, @$, EX_SLICE, $1, $3, $5); }
    | postfix '[' expression PLUS_COLON expression ']'
                                    { $$ = expr_slice(p, @$, EX_PLUS_SLICE, $1, $3, $5); }
    | namedType '(' arguments ')'   { $$ = expr_call(p, @$, expr_type(p, $1), NULL, $3); }
    | postfix '(' arguments ')'     { $$ = expr_call(p, @$, $1, NULL, $3); }
    | postfix ARGS_OPEN realTypeArgs ARGS_CLOSE '(' arguments ')'
                                    { $$ = expr_call(p, @$, $1, $3, $6); }
    | postfix ARGS_OPEN ARGS_CLOSE '(' arguments ')'
                                    { $$ = expr_call(p, @$, $1, NULL, $5); }
    ;

// Tells the token stream that this brace belongs to a value: when an error is found inside, its
// closing brace must not be taken for the end of a block.
valueOpen
    : '{'                           { tokens_in_value(p); }
    ;

braced
    : valueOpen expressionList VALUE_CLOSE { $$ = expr_list(p, @$, $2); }
    | valueOpen members VALUE_CLOSE { $$ = expr_struct(p, @$, $2); }
    | INVALID                       { $$ = expr_leaf(p, @$, EX_INVALID); }
    | braced '.' name               { $$ = expr_member(p, @$, $1, $3); }
    | braced '(' arguments ')'      { $$ = expr_call(p, @$, $1, NULL, $3); }
    | braced '[' expression ']'     { $$ = expr_index(p, @$, $1, $3); }
    | braced '[' expression ':' expression ']'
                                    { $$ = expr_slice(p, @$, EX_SLICE, $1, $3, $5); }
    ;

expression
    : postfix
    | braced
    | DOTS                              { $$ = expr_leaf(p, @$, EX_DOTS); }
    | '!' expression %prec PREFIX       { $$ = expr_unary(p, @$, OP_NOT, $2); }
    | '~' expression %prec PREFIX       { $$ = expr_unary(p, @$, OP_CPL, $2); }
    | '-' expression %prec PREFIX       { $$ = expr_unary(p, @$, OP_NEG, $2); }
    | '+' expression %prec PREFIX       { $$ = expr_unary(p, @$, OP_PLUS, $2); }
    | '(' typeRef ')' expression %prec PREFIX { $$ = expr_cast(p, @$, $2, $4); }
    | expression '*' expression         { BINARY(OP_MUL, $$, @$, $1, $3); }
    | expression '/' expression         { BINARY(OP_DIV, $$, @$, $1, $3); }
    | expression '%' expression         { BINARY(OP_MOD, $$, @$, $1, $3); }
    | expression '+' expression         { BINARY(OP_ADD, $$, @$, $1, $3); }
    | expression '-' expression         { BINARY(OP_SUB, $$, @$, $1, $3); }
    | expression "|+|" expression       { BINARY(OP_ADD_SAT, $$, @$, $1, $3); }
    | expression "|-|" expression       { BINARY(OP_SUB_SAT, $$, @$, $1, $3); }
    | expression "++" expression        { BINARY(OP_CONCAT, $$, @$, $1, $3); }
    | expression "<<" expression        { BINARY(OP_SHL, $$, @$, $1, $3); }
    | expression GT_GT ">" expression %prec GT_GT { BINARY(OP_SHR, $$, @$, $1, $4); }
    | expression "<" expression         { BINARY(OP_LT, $$, @$, $1, $3); }
    | expression "<=" expression        { BINARY(OP_LE, $$, @$, $1, $3); }
    | expression ">" expression         { BINARY(OP_GT, $$, @$, $1, $3); }
    | expression ">=" expression        { BINARY(OP_GE, $$, @$, $1, $3); }
    | expression "==" expression        { BINARY(OP_EQ, $$, @$, $1, $3); }
    | expression "!=" expression        { BINARY(OP_NE, $$, @$, $1, $3); }
    | expression '&' expression         { BINARY(OP_BAND, $$, @$, $1, $3); }
    | expression '^' expression         { BINARY(OP_BXOR, $$, @$, $1, $3); }
    | expression '|' expression         { BINARY(OP_BOR, $$, @$, $1, $3); }
    | expression "&&" expression        { BINARY(OP_AND, $$, @$, $1, $3); }
    | expression "||" expression        { BINARY(OP_OR, $$, @$, $1, $3); }
    | expression '?' expression ':' expression %prec "?:"
                                        { $$ = expr_cond(p, @$, $1, $3, $5); }
    ;

%%

// What the grammar would have taken, by the names given to the tokens above.
static int yyreport_syntax_error(const yypcontext_t *context, struct parser *p) {
    yysymbol_kind_t kinds[YYNTOKENS];
    const char *names[YYNTOKENS];
    int n = yypcontext_expected_tokens(context, kinds, YYNTOKENS);
    if (n < 0)
        return n;
    for (int i = 0; i < n; i++)
        names[i] = yysymbol_name(kinds[i]);
    syntax_error(p, names, (size_t)n);
    return 0;
}

// The rest of bison's complaints: its stack is exhausted.
static void p4_error(const P4_LTYPE *at, struct parser *p, const char *message) {
    (void)message;
    nested_too_deeply(p, *at);
}

static int p4_lex(P4_STYPE *value, P4_LTYPE *at, struct parser *p) {
    int kind = tokens_next(p, at, &value->annot);
    if (kind != TOK_ANNOTATION)
        value->tok = p->last;
    return kind;
}
