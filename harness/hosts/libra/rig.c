// SPDX-License-Identifier: Apache-2.0
#include "harness/hosts/libra/rig.h"

#include <stdlib.h>

#include "compiler/compile.h"
#include "control/tables/names.h"

struct sk_program *rig_program(const char *path, enum rig_build build) {
    struct compile_options opt = {
        .path = path, .checked = build == RIG_CHECKED, .scalar = build == RIG_SCALAR};
    char error[256], *object = compile_p4(&opt, stderr);
    if (!object)
        net_die(path, "does not compile");
    struct sk_program *program = sk_program_load(object, error, sizeof error);
    if (!program)
        net_die(object, error);
    free(object);
    return program;
}

static int rig_fill_table(void *sw, const char *table, const char *action, const uint32_t *values,
                          size_t n) {
    struct sk_error err;
    if (sk_control_table_fill(sw, table, action, values, n, -1, &err))
        net_die(table, err.text);
    return 0;
}

void rig_fill(struct sk_switch *sw) {
    libra_adder_fill(libra_adder(), rig_fill_table, sw);
}

struct sk_endpoint rig_worker_end(unsigned w) {
    return (struct sk_endpoint){
        {2, 0, 0, 0, 0, (uint8_t)(w + 1)}, (uint16_t)(40000 + w), 0x0a000001 + w};
}

struct sk_endpoint rig_switch_end(void) {
    return (struct sk_endpoint){{2, 0, 0, 0, 0xff, 1}, LIBRA_PORT, 0x0a0000fe};
}

struct libra_flow rig_flow(unsigned w) {
    return (struct libra_flow){rig_worker_end(w), rig_switch_end(), RIG_JOB, (uint16_t)w,
                               RIG_EPOCH};
}

void rig_admit(struct sk_switch *sw, unsigned w, unsigned base, unsigned cells) {
    char job[24], worker[24], ip[24], port[24], record[24], epoch[24], first[24], last[24];
    const char *const keys[] = {
        "hdr.libra.job",           NET_NUMBER(job, RIG_JOB), "hdr.libra.worker",
        NET_NUMBER(worker, w),     "hdr.ipv4.src_addr",      NET_NUMBER(ip, rig_worker_end(w).ip),
        "ig_intr_md.ingress_port", NET_NUMBER(port, w),      NULL};
    const char *const args[] = {
        "cell_base",   NET_NUMBER(first, base),     "cell_last", NET_NUMBER(last, cells - 1),
        "record_base", NET_NUMBER(record, w * 512), "epoch",     NET_NUMBER(epoch, RIG_EPOCH),
        NULL};
    net_entry(sw, "workers", keys, "admit", args);
    sk_switch_port_up(sw, (uint16_t)w, true);
}

// Register r is of lane r mod 2, which has eight.
struct rig_cells rig_cells(struct sk_switch *sw) {
    struct rig_cells c = {.pipe = sk_switch_pipe(sw, 0)};
    for (unsigned r = 0; r < LIBRA_PLACES; r++) {
        struct sk_object object;
        struct sk_error err;
        char name[32];
        snprintf(name, sizeof name, "lane%u.cells%u", r % 2, r / 2);
        if (sk_find_object(sw, SK_REGISTER, name, &object, &err))
            net_die(name, err.text);
        c.desc = object.desc;
        c.registers[r] = object.index;
    }
    return c;
}

uint32_t rig_read(const struct rig_cells *c, unsigned base, uint32_t rank) {
    return (uint32_t)c->desc->register_read(c->pipe, c->registers[rank % LIBRA_PLACES],
                                            base + rank / LIBRA_PLACES, 0);
}

void rig_write(const struct rig_cells *c, unsigned base, uint32_t rank, uint32_t value) {
    c->desc->register_write(c->pipe, c->registers[rank % LIBRA_PLACES], base + rank / LIBRA_PLACES,
                            0, value);
}
