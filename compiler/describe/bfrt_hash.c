// SPDX-License-Identifier: Apache-2.0
//
// bfrt_hash: a hash that the control plane may change, in the BF Runtime schema: three tables
// (tna-facts 4.6).
#include "compiler/describe/schema_impl.h"

// Identifiers of fields and actions, the same in every program.
enum {
    ID_ROTATE = 65577,
    ID_SEED,
    ID_MSB,
    ID_EXTEND,
    ID_PRE_DEFINED,
    ID_USER_DEFINED,
    ID_VALUE,
    ID_START_BIT,
    ID_LENGTH,
    ID_ORDER,
};

// Order and names are BF Runtime's.
static const char *const algorithms[] = {
    "IDENTITY",       "RANDOM",         "XOR",
    "CRC_8",          "CRC_8_DARC",     "CRC_8_I_CODE",
    "CRC_8_ITU",      "CRC_8_MAXIM",    "CRC_8_ROHC",
    "CRC_8_WCDMA",    "CRC_16",         "CRC_16_BYPASS",
    "CRC_16_DDS_110", "CRC_16_DECT",    "CRC_16_DECT_R",
    "CRC_16_DECT_X",  "CRC_16_DNP",     "CRC_16_EN_13757",
    "CRC_16_GENIBUS", "CRC_16_MAXIM",   "CRC_16_MCRF4XX",
    "CRC_16_RIELLO",  "CRC_16_T10_DIF", "CRC_16_TELEDISK",
    "CRC_16_USB",     "X_25",           "XMODEM",
    "MODBUS",         "KERMIT",         "CRC_CCITT_FALSE",
    "CRC_AUG_CCITT",  "CRC_32",         "CRC_32_BZIP2",
    "CRC_32C",        "CRC_32D",        "CRC_32_MPEG",
    "POSIX",          "CRC_32Q",        "JAMCRC",
    "XFER",           "CRC_64",         "CRC_64_GO_ISO",
    "CRC_64_WE",      "CRC_64_JONES",
};

struct out {
    struct json_out *j;
    struct arena *a;
    struct schema_ids *ids;
    const struct ir_hash *h;
};

static uint32_t table_id(const struct out *o, enum schema_kind kind) {
    return schema_bfrt_id(o->ids, kind, NULL) | schema_base(o->ids, SCHEMA_HASH, o->h->name);
}

static void bfrt_hash_begin(const struct out *o, enum schema_kind kind, const char *suffix,
                            const char *type, bool depends) {
    jout_open(o->j, NULL, '{');
    jout_string(o->j, "name", arena_printf(o->a, "%s.%s", o->h->name, suffix));
    jout_u64(o->j, "id", table_id(o, kind));
    jout_string(o->j, "table_type", type);
    jout_u64(o->j, "size", 1);
    jout_empty(o->j, "annotations");
    jout_open(o->j, "depends_on", '[');
    if (depends)
        jout_u64(o->j, NULL, table_id(o, SCHEMA_HASH));
    jout_close(o->j, ']');
}

static void bfrt_hash_end(const struct out *o) {
    jout_empty(o->j, "supported_operations");
    jout_empty(o->j, "attributes");
}

static void bfrt_hash_flags(const struct out *o, bool mandatory, bool read_only) {
    jout_bool(o->j, "mandatory", mandatory);
    jout_bool(o->j, "read_only", read_only);
}

static void id_name(const struct out *o, uint32_t id, const char *name, bool repeated) {
    jout_u64(o->j, "id", id);
    jout_string(o->j, "name", name);
    jout_bool(o->j, "repeated", repeated);
}

// "uint64" with a default or without; "bool", whose default is false.
static void type(const struct out *o, const char *name, const uint64_t *dflt) {
    jout_open(o->j, "type", '{');
    jout_string(o->j, "type", name);
    if (name[0] == 'b')
        jout_bool(o->j, "default_value", false);
    else if (dflt)
        jout_u64(o->j, "default_value", *dflt);
    jout_close(o->j, '}');
}

static void type_bytes(const struct out *o, unsigned width) {
    jout_open(o->j, "type", '{');
    jout_string(o->j, "type", "bytes");
    jout_u64(o->j, "width", width);
    jout_close(o->j, '}');
}

static void bfrt_hash_single(const struct out *o, bool mandatory, uint32_t id, const char *name,
                             const char *type_name, const uint64_t *dflt) {
    jout_open(o->j, NULL, '{');
    bfrt_hash_flags(o, mandatory, false);
    jout_open(o->j, "singleton", '{');
    id_name(o, id, name, false);
    jout_empty(o->j, "annotations");
    type(o, type_name, dflt);
    jout_close(o->j, '}');
    jout_close(o->j, '}');
}

static const uint64_t zero;

static void begin_action(const struct out *o, uint32_t id, const char *name) {
    jout_open(o->j, NULL, '{');
    jout_u64(o->j, "id", id);
    jout_string(o->j, "name", name);
    jout_string(o->j, "action_scope", "TableAndDefault");
    jout_empty(o->j, "annotations");
    jout_open(o->j, "data", '[');
}

static void end_action(const struct out *o) {
    jout_close(o->j, ']');
    jout_close(o->j, '}');
}

static void begin_param(const struct out *o, uint32_t id, const char *name, bool mandatory) {
    jout_open(o->j, NULL, '{');
    id_name(o, id, name, false);
    bfrt_hash_flags(o, mandatory, false);
    jout_empty(o->j, "annotations");
}

static void pre_defined(const struct out *o) {
    begin_action(o, ID_PRE_DEFINED, "pre_defined");
    begin_param(o, 1, "algorithm_name", false);
    jout_open(o->j, "type", '{');
    jout_string(o->j, "type", "string");
    jout_open(o->j, "choices", '[');
    for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++)
        jout_string(o->j, NULL, algorithms[i]);
    jout_close(o->j, ']');
    jout_string(o->j, "default_value", "RANDOM");
    jout_close(o->j, '}');
    jout_close(o->j, '}');
    end_action(o);
}

static void bfrt_hash_user_defined(const struct out *o) {
    static const struct {
        const char *name, *type;
        const uint64_t *dflt;
        bool mandatory;
    } params[] = {{"reverse", "bool", NULL, false},
                  {"polynomial", "uint64", NULL, true},
                  {"init", "uint64", &zero, false},
                  {"final_xor", "uint64", &zero, false},
                  {"hash_bit_width", "uint64", NULL, false}};
    begin_action(o, ID_USER_DEFINED, "user_defined");
    for (uint32_t i = 0; i < sizeof params / sizeof *params; i++) {
        begin_param(o, i + 1, params[i].name, params[i].mandatory);
        type(o, params[i].type, params[i].dflt);
        jout_close(o->j, '}');
    }
    end_action(o);
}

static void algorithm_table(const struct out *o) {
    bfrt_hash_begin(o, SCHEMA_HASH_ALGORITHM, "algorithm", "DynHashAlgorithm", true);
    jout_empty(o->j, "key");
    jout_open(o->j, "data", '[');
    bfrt_hash_single(o, false, ID_ROTATE, "rotate", "uint32", &zero);
    bfrt_hash_single(o, false, ID_SEED, "seed", "uint32", &zero);
    bfrt_hash_single(o, false, ID_MSB, "msb", "bool", NULL);
    bfrt_hash_single(o, false, ID_EXTEND, "extend", "bool", NULL);
    jout_close(o->j, ']');
    jout_open(o->j, "action_specs", '[');
    pre_defined(o);
    bfrt_hash_user_defined(o);
    jout_close(o->j, ']');
    bfrt_hash_end(o);
    jout_close(o->j, '}');
}

static void configure_field(const struct out *o, uint32_t id, const struct ir_hash_field *f) {
    const uint64_t width = f->width;
    jout_open(o->j, NULL, '{');
    bfrt_hash_flags(o, false, false);
    jout_open(o->j, "singleton", '{');
    id_name(o, id, f->name, true);
    jout_open(o->j, "annotations", '[');
    if (f->constant) {
        jout_open(o->j, NULL, '{');
        jout_string(o->j, "name", "bfrt_p4_constant");
        jout_close(o->j, '}');
    }
    jout_close(o->j, ']');
    jout_open(o->j, "container", '[');
    bfrt_hash_single(o, false, ID_START_BIT, "start_bit", "uint64", &zero);
    bfrt_hash_single(o, false, ID_LENGTH, "length", "uint64", &width);
    bfrt_hash_single(o, true, ID_ORDER, "order", "uint64", NULL);
    jout_close(o->j, ']');
    jout_close(o->j, '}');
    jout_close(o->j, '}');
}

static void configure_table(const struct out *o) {
    bfrt_hash_begin(o, SCHEMA_HASH, "configure", "DynHashConfigure", false);
    jout_empty(o->j, "key");
    jout_open(o->j, "data", '[');
    for (size_t i = 0; i < o->h->fields.n; i++)
        configure_field(o, (uint32_t)i + 1, &o->h->fields.v[i]);
    jout_close(o->j, ']');
    bfrt_hash_end(o);
    jout_close(o->j, '}');
}

static void compute_table(const struct out *o) {
    uint32_t id = 1;
    bfrt_hash_begin(o, SCHEMA_HASH_COMPUTE, "compute", "DynHashCompute", true);
    jout_open(o->j, "key", '[');
    for (size_t i = 0; i < o->h->fields.n; i++) {
        const struct ir_hash_field *f = &o->h->fields.v[i];
        if (f->constant)
            continue;
        jout_open(o->j, NULL, '{');
        id_name(o, id++, f->name, false);
        jout_empty(o->j, "annotations");
        jout_bool(o->j, "mandatory", false);
        jout_string(o->j, "match_type", "Exact");
        type_bytes(o, f->width);
        jout_close(o->j, '}');
    }
    jout_close(o->j, ']');
    jout_open(o->j, "data", '[');
    jout_open(o->j, NULL, '{');
    bfrt_hash_flags(o, false, true);
    jout_open(o->j, "singleton", '{');
    id_name(o, ID_VALUE, "hash_value", false);
    jout_empty(o->j, "annotations");
    type_bytes(o, o->h->width);
    jout_close(o->j, '}');
    jout_close(o->j, '}');
    jout_close(o->j, ']');
    bfrt_hash_end(o);
    jout_bool(o->j, "read_only", true);
    jout_close(o->j, '}');
}

void schema_bfrt_hash(struct json_out *j, struct arena *a, struct schema_ids *ids,
                      const struct ir_hash *h) {
    const struct out o = {j, a, ids, h};
    if (!ir_hash_is_dynamic(h))
        return;
    algorithm_table(&o);
    configure_table(&o);
    compute_table(&o);
}
