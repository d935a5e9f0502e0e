// SPDX-License-Identifier: Apache-2.0
//
// lower_impl: what the files of lowering share. Nobody else includes this. lower.h lists the files.
//
// How it works. Lowering is partial evaluation. Every expression becomes a 'value': a tree whose
// leaves are IR expressions, compile-time integers, or objects (instances). Storage is a value
// whose leaves are IR variables. Bodies of functions, actions, sub-controls are lowered again at
// each call in an environment that binds their parameters, so constructor parameters and generics
// need no machinery of their own: constant leaves fold in compiler/ir/build.h.
//
// An expression's value is made of reads that happen when it is used, not when it is lowered. Who
// lowers two expressions in a row and uses both must take a snapshot of the first if the second has
// effects (value_snapshot, scan_effects).
//
// After an error an expression's value is a zero of its type and lowering goes on.
#ifndef SILKEN_COMPILER_LOWER_LOWER_IMPL_H
#define SILKEN_COMPILER_LOWER_LOWER_IMPL_H

#include "compiler/ir/target.h"
#include "compiler/ir/build.h"
#include "compiler/ir/walk.h"
#include "compiler/lower/lower.h"
#include "compiler/rules/rules.h"

// Limits. A program beyond them is refused: no P4 text may make the compiler grow without bound.
#define LOWER_MAX_WIDTH 4096u   // bits of one scalar
#define LOWER_MAX_DEPTH 400u    // nesting of expressions, statements and inlined calls together
#define LOWER_MAX_VARS  200000u // variables of one gress
#define LOWER_MAX_STMTS 2000000u
#define LOWER_MAX_WORK  10000000u // expressions, statements and parts of types looked at

struct object;

enum value_kind {
    VAL_NONE,   // void
    VAL_BITS,   // e: bit<W>, int<W>, bool, enum, error
    VAL_INT,    // num: an 'int' of any size, always compile-time
    VAL_STRING, // text
    VAL_TUPLE,  // items: structs, tuples, lists, in declaration order
    VAL_HEADER, // items: fields; valid; header when it is storage
    VAL_STACK,  // items: headers; next in storage
    VAL_UNION,  // items: headers, at most one of them valid
    VAL_VARBIT, // items: headers that are its pieces (header.c)
    VAL_OBJECT, // object
};
struct value {
    enum value_kind kind;
    struct type *type; // without type variables
    struct ir_expr *e;
    big num;
    const char *text;
    struct value **items;
    size_t n;
    struct ir_expr *valid;
    struct ir_header *header;
    struct ir_header *rest; // VAL_HEADER in storage: the fields after its varbit field, or null
    struct value *in_union; // VAL_HEADER in storage: the union it is a member of, or null
    bool place;             // made by storage_new: no two parts of it are the same variable
    struct ir_var *next;    // index of the element that .next denotes; parsers only
    struct object *object;
};

// A place to assign to. Usually one storage value. With 'index' it is one of 'n' alternatives,
// chosen at run time: a field of a stack's element. With 'sliced' only some bits of it.
struct lvalue {
    struct value **alts; // n of them
    size_t n;
    struct ir_expr *index;
    bool sliced;
    unsigned lo, width;
};

enum object_kind {
    OBJ_CONTROL,
    OBJ_PARSER,
    OBJ_PACKET_IN,
    OBJ_PACKET_OUT,
    OBJ_REGISTER,
    OBJ_REGACTION,
    OBJ_REG_PARAM,
    OBJ_MATH_UNIT,
    OBJ_COUNTER,
    OBJ_METER, // Meter, Lpf, Wred
    OBJ_HASH,
    OBJ_CRC_POLYNOMIAL,
    OBJ_RANDOM,
    OBJ_CHECKSUM,
    OBJ_RESUBMIT,
    OBJ_MIRROR,
    OBJ_DIGEST,
    OBJ_PARSER_PRIORITY,
    OBJ_PARSER_COUNTER,
    OBJ_ALPM,
    OBJ_ATCAM,
    OBJ_ACTION_PROFILE,
    OBJ_SELECTOR,
    OBJ_VALUE_SET,
    OBJ_PACKAGE,
    OBJ_UNSUPPORTED, // may be instantiated, not used
};

// Compile-time arguments of a CRCPolynomial.
struct crc_polynomial {
    unsigned width;
    big coeff, init, xor_out;
    bool reversed, extended;
};

struct binding {
    const struct decl *decl;
    struct value *value;
};
// An inlined call's instance, table, action or state, made once per environment.
struct made {
    const void *key; // a decl or, for Type.apply(), the call
    void *thing;
};
struct env {
    struct env *up;
    const char *path;         // control-plane name of the enclosing instance: "pipe.Ingress"
    const struct decl *owner; // control or parser whose instance this is, or null
    VEC(struct binding) bindings;
    VEC(struct made) made;
    const decl_vec *tparams; // of the generic declaration whose body this is, or null
    struct type **targs;
};

struct object {
    enum object_kind kind;
    const char *name;       // fully qualified
    const char *type_name;  // "Register"
    struct decl *decl;      // of the extern, control or parser
    struct decl *instance;  // D_INSTANCE, or null
    struct type *type;      // with its arguments
    struct env *env;        // control, parser, package: its own; else where it is declared
    struct ir_gress *gress; // the one that uses it; null until first used
    struct loc at;
    struct ir_register *reg;
    bool unfit; // register: no stateful ALU has such cells, an error where it is used
    struct ir_regaction *regaction;
    struct ir_reg_param *reg_param;
    struct ir_math_unit *math_unit;
    struct ir_counter *counter;
    struct ir_meter *meter;
    bool adjusted; // counter, meter: a call has said by how many bytes
    struct ir_hash *hash;
    struct ir_random *random;
    struct ir_checksum *checksum;
    struct ir_value_set *value_set;
    struct ir_digest *digest;
    struct ir_action_profile *profile;
    struct ir_selector *selector;
    struct ir_partitions *partitions;
    struct object *of_profile, *of_hash; // ActionSelector: what it was made with
    struct crc_polynomial poly;
    struct object *of_register; // ActionSelector: the register given to it, or null
    struct value *arg;          // Resubmit, Mirror, Digest: its type; RegisterAction: its register;
                                // SelectorAction: its selector
    struct call_args *args;     // control: of the last application, or null
    struct object *ends[2];     // Register: whose overflow and underflow are its own, or null
    struct object *at_end[2];   // Register: those, made into actions
    const char *method;         // RegisterAction: "overflow", "underflow"; null: "apply"
    struct ir_var *results[3];  // RegisterAction: what apply gives besides rv
    struct ir_var *counters[5]; // ParserCounter: its value and those pushed below it
    bool lowering;              // RegisterAction: its body is being lowered
    const struct decl *cell_param; // RegisterAction: the parameter of apply that is the entry
    struct ir_var *cell128;        // RegisterAction: the entry when it is one number of 128 bits
    bool min_max;                  // RegisterAction: apply searches the entry's lanes
    unsigned copies;               // parser: times inlined, for names
};

struct early {
    const struct expr *expr;
    struct value *value; // null: of a place
    struct lvalue place;
};

// A body being inlined: where 'return' goes, and what has to be copied out when 'exit' or 'return'
// cuts it short.
struct frame {
    struct frame *up;
    unsigned label;                 // made when the first 'return' needs it
    struct value *result;           // storage of the value returned, or null
    VEC(struct ir_stmt *) copy_out; // done when the body ends, also by exit
    bool exits_later;               // of a table's action: see stmt.c
};

enum place {
    IN_PARSER_STATE,
    IN_CONTROL_BODY,
    IN_ACTION_BODY,
    IN_REGISTER_BODY,
    IN_DEPARSER_BODY,
};

// A shift or product with an operand that is not a constant yet.
struct late_op {
    struct ir_expr *e;
    struct loc at;
    bool met, failed; // by the walk over the gress; in one of its places, if it stands in several
};

struct lower {
    struct arena *a;
    struct diag *d;
    struct program *p;
    struct ir_program *out;
    struct ir_pipeline *pipeline;
    struct ir_gress *gress;
    struct ir_block *block; // statements go here
    struct env *globals;    // of one pipeline
    struct env *gress_env;  // below it: what belongs to one gress
    struct env *env;
    unsigned repeated; // inside of how many controls that are applied more than once
    const struct ir_application *within; // controls being inlined
    struct frame *frame;
    struct frame *action;   // of the table action whose body is being lowered
    struct ir_var *exiting; // set by actions that leave their 'exit' to who applied their table
    VEC(struct ir_action *) exiting_actions;
    enum place place;
    struct states *states;        // of the parser being lowered
    struct object *salu;          // the register action whose body is being lowered
    struct ir_block *salu_body;   // that body, of statements that run in any case
    struct ir_register *written;  // by the 'write' whose value is being evaluated
    struct loop *loop;            // the innermost loop being written out
    struct ir_var *wanted;        // an extern method may put its result right here
    VEC(struct early) early;      // arguments of extern calls that are evaluated already
    reset_field_vec reset_fields; // of this gress: only 0 may be assigned to them
    VEC(struct late_op) late;     // of this gress: see late.c
    unsigned labels;              // given out so far, in this gress
    unsigned temps;
    unsigned action_calls, action_call; // so far; that is being inlined, the outermost, or 0
    bool in_hash;                       // in a block with @in_hash
    unsigned annotated, last_annotated; // the innermost block with annotations; the last one begun
    unsigned stage;                     // that the innermost @stage(n) asks for, n + 1, or 0
    unsigned depth, stmts, work;
    bool copying;   // an assignment is a copy: see copy_value
    bool discard;   // the value of the call being evaluated is not used
    bool no_locals; // the blocks of a gress are made before what is in them
    bool gave_up;   // a limit was reached and reported (lower_limit)
};

// ---- gress.c
// The blocks of one gress, as the arguments of the package. With several parsers each of the chip's
// parser instances, which serve four ports each, runs one of them (tna-facts 1.2).
#define MAX_PARSERS 18u
struct blocks {
    struct expr *parsers[MAX_PARSERS], *control, *deparser;
    unsigned n_parsers;
    unsigned parser_of[MAX_PARSERS]; // by parser instance; not looked at when there is one
};
void lower_gress(struct lower *lw, struct ir_gress *g, const struct blocks *b, struct loc at);
// At the start of an action's body, in a table or inlined: @silken_consumes says that a packet
// which is dropped after this was taken in by the program.
void note_consumption(struct lower *lw, const struct decl *d, struct loc at);
// Storage of the architecture's metadata, a variable's or a parameter's: its fields get validities
// of their own.
bool is_intrinsic_struct(const struct type *t);
void note_validities(struct lower *lw, const struct value *v);
struct ir_var *validity_new(struct lower *lw, const struct ir_var *v);
// ---- tidy.c: what nothing refers to goes away, names become unique, ids dense.
void tidy_gress(struct lower *lw, struct ir_gress *g);

// ---- env.c
struct env *env_new(struct lower *lw, struct env *up, const char *path);
void env_bind(struct lower *lw, struct env *env, const struct decl *d, struct value *v);
// What a declaration stands for here; null when it is bound nowhere.
struct value *env_find(const struct env *env, const struct decl *d);
void *env_made(const struct env *env, const void *key); // null when not made yet
// The innermost environment that is an instance of 'owner'; that of the whole gress for null.
struct env *env_of(struct lower *lw, const struct decl *owner);
void env_make(struct lower *lw, struct env *env, const void *key, void *thing);
struct type *env_type(struct lower *lw, struct type *t); // type variables and widths put in
// Control-plane name of something declared in the current environment: @name counts.
const char *env_name(struct lower *lw, const struct env *env, const annot_vec *annots,
                     const char *name);

// ---- value.c
const struct type *plain(const struct type *t); // underlying, never null
// Of a type that has @p4runtime_translation to a number; else null.
const struct ir_translation *lower_translation(struct lower *lw, const struct type *t);
unsigned scalar_width(struct lower *lw, const struct type *t, struct loc at); // 0: of bit<0>
// Of the scalars that an extern holds or computes; at least 1, a message otherwise.
unsigned extern_width(struct lower *lw, const struct object *o, const struct type *t);
bool is_scalar_type(const struct type *t);
bool is_signed_type(const struct type *t);
bool is_flexible(const struct type *t);
struct value *value_new(struct lower *lw, enum value_kind kind, struct type *t);
struct value *value_bits(struct lower *lw, struct type *t, struct ir_expr *e);
struct value *value_bool(struct lower *lw, struct ir_expr *e);
struct value *value_int(struct lower *lw, struct type *t, big v);
struct value *value_const(struct lower *lw, struct type *t, big v, struct loc at);
struct value *value_zero(struct lower *lw, struct type *t, struct loc at); // headers invalid
struct value *value_object(struct lower *lw, struct object *o);
struct ir_var *var_new(struct lower *lw, const char *name, unsigned width, bool is_signed,
                       struct loc at);
struct ir_var *temp_new(struct lower *lw, const char *what, unsigned width, struct loc at);
struct value *storage_new(struct lower *lw, struct type *t, const char *name, struct loc at);
bool value_is_const(const struct value *v);
bool value_is_storage(const struct value *v); // every leaf is a variable
struct value *value_snapshot(struct lower *lw, struct value *v, struct loc at);
struct ir_expr *value_equal(struct lower *lw, struct value *x, struct value *y, struct loc at);
struct value *value_choose(struct lower *lw, struct ir_expr *c, struct value *x, struct value *y);
struct value *value_field(struct lower *lw, struct value *v, const char *name);
typedef void leaf_fn(void *ctx, struct value *leaf);
void value_leaves(struct value *v, leaf_fn *fn, void *ctx); // scalars, in wire order
// Most significant first; what has no bits is not among them.
ir_expr_vec value_flat(struct lower *lw, struct value *v, struct loc at);
bool values_overlap(struct value *x, struct value *y); // read or denote a common variable
bool expr_reads(struct ir_expr *e, const struct ir_var *v);
void assign_var(struct lower *lw, struct ir_var *dst, struct ir_expr *e, struct loc at);
void assign(struct lower *lw, struct value *dst, struct value *src, struct loc at);
// Into a parameter's storage or back: of fields with a validity of their own that is copied, too.
void copy_value(struct lower *lw, struct value *dst, struct value *src, struct loc at);
void lvalue_copy(struct lower *lw, const struct lvalue *l, struct value *v, struct loc at);
void mark_assigned(struct lower *lw, struct ir_var *v, struct loc at); // own validity

// ---- header.c
void storage_invalidate(struct lower *lw, struct value *v, struct loc at); // headers in it
// Of one header in storage, with what that means for the others of its union.
void set_header(struct lower *lw, struct value *v, bool valid, struct loc at);
struct ir_expr *header_validity(struct lower *lw, const struct value *v); // header or union
typedef struct value *piece_fn(struct lower *lw, struct type *t, const char *name, void *ctx,
                               struct loc at);
void varbit_pieces(struct lower *lw, struct value *v, const char *name, piece_fn *piece, void *ctx,
                   struct loc at);
// Its varbit field; null when it has none.
struct value *varbit_field(const struct value *header);
// Extracts into the header that 'l' denotes; 'bits': the size of its varbit field, else null.
void extract_header(struct lower *lw, const struct lvalue *l, struct ir_expr *bits, struct loc at);

// ---- expr.c
struct value *eval(struct lower *lw, struct expr *e);
struct ir_expr *eval_bits(struct lower *lw, struct expr *e); // at least one bit: bit<0> is a 0
struct ir_expr *eval_bool(struct lower *lw, struct expr *e);
// A compile-time integer, bool or enum value; null after a message naming 'what'.
big eval_const(struct lower *lw, struct expr *e, const char *what);
bool eval_const_u64(struct lower *lw, struct expr *e, const char *what, uint64_t *out);
struct value *eval_as(struct lower *lw, struct expr *e, struct type *t);
struct value *eval_index(struct lower *lw, struct value *base, struct ir_expr *i, struct loc at);
// The number in a[number], whose bits are those of an unsigned number.
struct ir_expr *eval_index_bits(struct lower *lw, struct expr *e);
// Of a[hi:lo] or a[lo +: width]; false after a message.
bool slice_bounds(struct lower *lw, struct expr *e, unsigned *lo, unsigned *width);
struct ir_expr *stack_last_index(struct lower *lw, struct value *stack);
bool go_down(struct lower *lw, struct loc at); // false after a message: too deep, too much
bool spend(struct lower *lw, struct loc at);   // one unit of work; false after a message
void go_up(struct lower *lw);

// ---- op.c
struct value *eval_unary(struct lower *lw, struct expr *e);
struct value *eval_binary(struct lower *lw, struct expr *e);
struct value *apply_binary(struct lower *lw, enum op op, struct value *x, struct value *y,
                           struct type *t, struct loc at);
struct value *convert(struct lower *lw, struct value *v, struct type *t, struct loc at);

// What a product, quotient or remainder is on a Tofino; null when nothing is known of its operands.
struct ir_expr *product_of_known(struct lower *lw, enum ir_op op, struct ir_expr *x,
                                 struct ir_expr *y);
struct ir_expr *shift_distance(struct lower *lw, struct ir_expr *n); // a constant, as IR has it

// ---- late.c: operands that are known when calls have been inlined
void note_late(struct lower *lw, struct ir_expr *e, struct loc at); // a shift or a product
void late_gress(struct lower *lw, struct ir_gress *g);

// ---- lvalue.c
struct lvalue eval_lvalue(struct lower *lw, struct expr *e);
struct value *lvalue_read(struct lower *lw, const struct lvalue *l, struct loc at);
void lvalue_assign(struct lower *lw, const struct lvalue *l, struct value *v, struct loc at);
struct ir_expr *index_is(struct lower *lw, struct ir_expr *index, size_t k); // index == k
struct value *lvalue_whole(const struct lvalue *l); // its storage when static and unsliced

// ---- lower.c
unsigned resubmit_bits(const struct lower *lw); // the space for a packet's resubmit data

// ---- call.c
struct value *eval_call(struct lower *lw, struct expr *e);
struct expr *bound_arg(const struct expr *call, size_t i); // null when left out

// ---- bind.c
enum bind_mode {
    BIND_ONCE,    // a block applied in one place: references where nobody can tell
    BIND_SHARED,  // applied in several places: references for arguments that are the same in all
    BIND_CLOSURE, // a function or action, whose body may name its surroundings: copies, which
                  // are then coalesced with what they copy where nobody can tell
};
// The parameters of one call: evaluated, bound, and after the body copied out.
struct bound {
    struct decl *param;
    struct value *inside;  // what the parameter is bound to
    struct lvalue outside; // out, inout
    struct value *in;      // value to copy in, or null
    bool copied;           // 'inside' is storage of its own
    bool data;             // an action's parameter that the control plane gives
    bool saved;            // inout: the value going in was put aside before later arguments
};
struct call_args {
    VEC(struct bound) v;     // by parameter
    size_t *order;           // the parameters as the call lists their arguments
    struct ir_block *before; // copies in
    struct ir_block *body, *outer;
};
// What is known of all applications of a block.
struct sharing {
    bool *same;     // by parameter: the argument is the same everywhere
    bool *validity; // by parameter: some application hands in a field with a validity of its own
    const struct call_args
        *earlier; // of the application before, whose storage is taken again; or null
};
// Evaluates the call's arguments here and binds the parameters in 'callee'; 'sharing' is null for
// what is no block. With 'action_data', parameters without direction and argument become the
// control plane's.
void bind_args(struct lower *lw, struct call_args *args, const decl_vec *params,
               const struct expr *call, struct env *callee, enum bind_mode mode,
               const struct sharing *sharing, bool action_data);
void begin_body(struct lower *lw, struct call_args *args, struct frame *f, struct loc at);
void end_body(struct lower *lw, struct call_args *args, struct frame *f, bool coalesce,
              struct loc at);
void coalesce_copies(struct lower *lw, struct call_args *args, struct frame *f); // coalesce.c

// ---- block.c
void block_new(struct lower *lw, struct object *o, struct expr *ctor);
void block_locals(struct lower *lw, struct object *o);      // instances, constants, variables
void init_block_locals(struct lower *lw, struct object *o); // initial values, at each application
struct value *apply_block(struct lower *lw, struct expr *call);
void declare_local(struct lower *lw, struct decl *d);
const char *local_name(struct lower *lw, const char *name); // of a variable declared here

// ---- stmt.c
void lower_stmt(struct lower *lw, struct stmt *s);
void put_exit(struct lower *lw, struct loc at); // with what is copied out of the bodies it ends
void put(struct lower *lw, struct ir_stmt *s);
struct ir_block *lower_into(struct lower *lw, struct stmt *s); // into a block of its own
void put_if(struct lower *lw, struct ir_expr *c, struct ir_block *then_b, struct ir_block *else_b,
            struct loc at);
// The same for a condition that the source has: 'text' is how it says it.
void put_source_if(struct lower *lw, struct ir_expr *c, struct ir_block *then_b,
                   struct ir_block *else_b, struct loc at, const char *text);
// Wraps 'body' so that LEAVE(label) ends it, and appends it to the current block.
void put_labelled(struct lower *lw, struct ir_block *body, unsigned label, struct loc at);

// ---- loop.c
void lower_for(struct lower *lw, struct stmt *s);
void lower_for_in(struct lower *lw, struct stmt *s);
void lower_loop_exit(struct lower *lw, struct stmt *s); // break, continue

// ---- object.c
struct object *object_new(struct lower *lw, struct expr *ctor, struct decl *instance,
                          const char *name, struct loc at);
struct object *object_of(struct lower *lw, struct expr *e); // evaluates to an instance, or null
bool object_use(struct lower *lw, struct object *o, struct loc at); // false: wrong gress

// ---- place.c: false after a message that an extern may not be called here.
bool place_method(struct lower *lw, const struct object *o, const struct expr *e);
bool place_function(struct lower *lw, const struct expr *e);
// ---- extern.c
struct value *extern_method(struct lower *lw, struct expr *e, struct ir_var *wanted);
struct ir_var *result_var(struct lower *lw, struct ir_var *wanted, unsigned width, struct loc at);

// ---- meter.c
void counter_new(struct lower *lw, struct object *o, struct expr *ctor);
void meter_new(struct lower *lw, struct object *o, struct expr *ctor);
struct value *counter_method(struct lower *lw, struct object *o, struct expr *e);
struct value *meter_method(struct lower *lw, struct object *o, struct expr *e,
                           struct ir_var *wanted);
// Table properties 'counters', 'meters' and 'filters'.
void attach_counters(struct lower *lw, struct ir_table *t, const struct table_property *p);
void attach_meters(struct lower *lw, struct ir_table *t, const struct table_property *p);
// Direct meters and counters are used by the actions of their one table, each once.
void check_direct_meters(struct lower *lw, struct ir_gress *g);

// ---- deparser.c
void digest_new(struct lower *lw, struct object *o);
// Names and widths of a value's scalars; members of a member are "outer.inner".
void named_fields(struct lower *lw, ir_field_vec *out, const struct value *v, const char *name);
struct value *resubmit_method(struct lower *lw, struct object *o, struct expr *e);
struct value *mirror_method(struct lower *lw, struct object *o, struct expr *e);
struct value *digest_method(struct lower *lw, struct object *o, struct expr *e);

// ---- choices.c
// Refuses choices in the deparser that the hardware cannot make. What sends by a field of the
// program's own is made to.
void check_choices(struct lower *lw, const struct ir_gress *g);

// ---- register.c
void register_new(struct lower *lw, struct object *o, struct expr *ctor);
// Says, with an error, that no stateful ALU has such cells; false: one has.
bool register_unfit(struct lower *lw, const struct object *o);
void regaction_new(struct lower *lw, struct object *o, struct expr *ctor);
struct value *register_method(struct lower *lw, struct object *o, struct expr *e,
                              struct ir_var *wanted);
struct value *regaction_method(struct lower *lw, struct object *o, struct expr *e,
                               struct ir_var *wanted);

// Makes the IR of the action on first use; false after a message.
bool regaction_ensure(struct lower *lw, struct object *o, struct loc at);

// ---- queue.c
struct counted_method { // of a register action
    const char *method;
    enum ir_reg_use use;
    enum ir_counting counting;
};
// Null: no action has such a method.
const struct counted_method *queue_method(const char *name);
// "overflow", "underflow".
const char *queue_end_name(size_t i);
// What runs when a counted register has no cell for the action: the overflow or underflow that some
// action of the register declares. Null: none, or a message was given.
struct object *queue_end(struct lower *lw, struct object *reg, enum ir_reg_use use, struct loc at);
// The register is one of these from now on; false after a message, when it is another already.
bool queue_set(struct lower *lw, struct ir_register *r, enum ir_counting counting, struct loc at);

// ---- onebit.c: a stateful ALU's few ways with single bits (tna-facts 4.2)
// Turns the lowered body of an action on single bits into what the chip does: the result is the bit
// before or its complement, the bit is set, cleared or left. A message for anything else; nothing
// for wider actions.
void onebit_action(struct lower *lw, struct object *o);
// A message when 'value' cannot be written to a register of single bits.
void onebit_written(struct lower *lw, const struct ir_register *r, const struct ir_expr *value,
                    struct loc at);

// ---- salu.c: what can be called in the body of a register action
void reg_param_new(struct lower *lw, struct object *o, struct expr *ctor);
void math_unit_new(struct lower *lw, struct object *o, struct expr *ctor);
struct value *reg_param_read(struct lower *lw, struct object *o, struct expr *e);
struct value *math_unit_execute(struct lower *lw, struct object *o, struct expr *e);
bool is_min_max(const char *method);                          // minmax.c
struct value *salu_min_max(struct lower *lw, struct expr *e); // this.min8(...) and so on
struct value *this_method(struct lower *lw, struct expr *e);  // this.predicate(...) and so on

// ---- table.c
enum apply_want { APPLY_PLAIN, APPLY_HIT, APPLY_MISS, APPLY_ACTION_RUN };
// Applies a table; the value is what is wanted of the result.
struct value *apply_table(struct lower *lw, struct expr *call, enum apply_want want);
// As a control plane names a key.
const char *table_key_name(struct lower *lw, const struct table_key *k);
struct ir_table *made_table(struct lower *lw, const struct decl *d); // null before it is applied
// False: of bit<0>, which the IR's table has not.
bool key_has_bits(struct lower *lw, const struct table_key *k);
// Key number i of the table being made, where it was evaluated before the lookup; else null.
struct ir_expr *computed_key(struct lower *lw, const struct decl *d, size_t i);
struct decl *applied_decl(const struct expr *call); // the table of t.apply()
// Index in table->actions of the action that 'd' denotes there; -1 when it is not in it.
int table_action_index(struct lower *lw, struct ir_table *t, const struct decl *d);
struct decl *action_decl(struct expr *call, struct decl *d); // what an action reference names

// ---- entry.c
// A keyset for one key: value and mask, or low and high.
struct keyset {
    big value, mask, high; // high set: a range from value
    big below;  // set: a range of signed numbers, and another part of it is from this to -1
    bool any;   // '_' or 'default'
    bool empty; // a range that begins after its end
    struct object *set;
};
#define MAX_PARTS      8u // ranges of two parts in one entry or case: each doubles it
#define TOO_MANY_PARTS "more than %u ranges from a negative number to one that is not"
bool eval_keyset(struct lower *lw, struct expr *e, unsigned width, struct keyset *out);
big all_ones(struct lower *lw, unsigned width);
void make_entries(struct lower *lw, struct ir_table *out, struct decl *d);
typedef VEC(big) big_vec;
// The action of 't' that 'd' names, its control-plane arguments from 'call'; null after a message.
struct ir_action *chosen_action(struct lower *lw, struct ir_table *t, struct expr *call,
                                const struct decl *d, big_vec *args);

// ---- profile.c
void profile_new(struct lower *lw, struct object *o, struct expr *ctor);
void selector_new(struct lower *lw, struct object *o, struct expr *ctor);
void partitions_new(struct lower *lw, struct object *o, struct expr *ctor); // Alpm, Atcam
// The register that a SelectorAction on 'o' works on, made when it is needed first; null after a
// message.
struct ir_register *selector_memory(struct lower *lw, struct object *o, struct loc at);
// 'implementation' of a table whose keys are made: profile, selector, the hash of selector keys.
void table_implementation(struct lower *lw, struct ir_table *t, const struct decl *d,
                          struct expr *e);
// When the table's actions are known: they must be those of the profile.
void profile_actions(struct lower *lw, struct ir_table *t);
// 'selector' keys are for tables with a selector.
void check_selector_keys(struct lower *lw, const struct ir_table *t, const struct decl *d);

// ---- parser.c
void lower_parsers(struct lower *lw, struct object **parsers, const struct blocks *b);
void apply_parser(struct lower *lw, struct expr *call, struct object *o);
// Cuts the state being lowered: what follows is reached only when 'c' holds, else the parser
// rejects. False after a message, where no state can be cut.
bool reject_unless(struct lower *lw, struct ir_expr *c, struct loc at);
// Whether statements go to the state that is being lowered, not to a block in it.
bool in_state_itself(const struct lower *lw);
void value_set_new(struct lower *lw, struct decl *d); // declares it in the current environment

// ---- hash.c
struct value *hash_method(struct lower *lw, struct object *o, struct expr *e,
                          struct ir_var *wanted);

// ---- pcounter.c
struct value *pcounter_method(struct lower *lw, struct object *o, struct expr *e);

// ---- packet.c
struct value *packet_method(struct lower *lw, struct object *o, struct expr *e);
struct value *deparser_emit(struct lower *lw, struct expr *e);
struct value *port_metadata_unpack(struct lower *lw, struct expr *e);
struct value *checksum_method(struct lower *lw, struct object *o, struct expr *e,
                              struct ir_var *wanted);
// A state's sums take whole bytes by its end.
void csum_check_state(struct lower *lw, const struct ir_block *body);

// ---- sums.c
// Of the parser whose states are those from number 'from' on.
void sums_place(struct lower *lw, size_t from);

// ---- scan.c
bool scan_effects(const struct expr *e);
// How often the instance 'd' with 'n_params' parameters is applied in the block that declares it,
// which is itself applied more than once or not ('repeated'), and in those that get it as a
// constructor's argument; same[i] is set when all applications have the same argument for parameter
// i. 'calls' gets them, one of a loop once.
typedef VEC(const struct expr *) call_vec;
unsigned scan_applies(struct arena *a, const struct decl *block, const struct decl *d,
                      bool repeated, bool *same, size_t n_params, call_vec *calls);
// Whether the statement assigns to the variable 'd' (or a part of it), by name; and whether it runs
// actions, which may do so without naming it here.
bool scan_writes(const struct stmt *s, const struct decl *d);
bool scan_calls_actions(const struct stmt *s);
const struct expr *strip(const struct expr *e); // implicit casts that change nothing

// ---- names for people
// lower.c: whether the architecture's files declare it.
bool lower_is_architecture(struct lower *lw, const struct decl *d);
// leaving.c: a statement of the deparser's end for each counter of the bytes that leave
void count_leaving(struct arena *a, struct ir_gress *g);

// one_access.c: a read and a write that the chip executes as one ('continues')
void join_accesses(struct arena *a, struct ir_gress *g);

// zeroed.c: which variables start as zero
void lower_zeroed(struct lower *lw);
// names.c
void lower_constants(struct lower *lw);
void lower_field_names(struct lower *lw);

// ---- messages; none after a limit was reached
// A limit of Silken's own (diag_limit): it is reported, and lowering gives up.
void lower_limit(struct lower *lw, struct loc at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void lower_unsupported(struct lower *lw, struct loc at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void lower_error(struct lower *lw, struct loc at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
