// SPDX-License-Identifier: Apache-2.0
#include "cli/top/top.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"

const char *const top_view_names[TOP_VIEWS] = {"all", "ports", "drops", "jobs", "alarms"};
const char *const top_sort_names[TOP_SORTS] = {"port", "in", "out", "drops", "queue", "name"};

static void top_views_put(struct top_page *p, enum top_colour c, const char *before,
                          const char *text) {
    top_put(p, TOP_PLAIN, before);
    top_put(p, c, text);
}

// A rate in a column.
static void cell_number(struct top_page *p, enum top_colour c, int width, double v) {
    char text[TOP_NUMBER];
    top_put(p, TOP_PLAIN, " ");
    top_cell(p, c, width, top_number(v, text));
}

// ---- totals ----

static void put_rate(struct top_page *p, const char *name, double v) {
    char text[64], n[TOP_NUMBER];
    snprintf(text, sizeof text, "  %s %s/s", name, top_number(v, n));
    top_group(p, TOP_PLAIN, text);
}

static void put_traffic(struct top_page *p, const char *name, double packets, double bits) {
    char text[64], n[2][TOP_NUMBER];
    snprintf(text, sizeof text, "%s %s pkt/s %sbit/s", name, top_number(packets, n[0]),
             top_number(bits, n[1]));
    top_group(p, TOP_PLAIN, text);
}

static void draw_totals(struct top_page *p, const struct top_data *d) {
    char text[64];
    unsigned up = 0, devices = 0; // the switch's own port to its control plane has none
    const size_t alarms = json_array_size(d->alarms);
    const char *program = strrchr(d->program, '/');
    const time_t seconds = (time_t)(d->clock / 1000000000u);
    struct tm at;
    for (size_t i = 0; i < d->n_ports; i++) {
        if (strcmp(d->ports[i].device, "inside") == 0)
            continue;
        devices++;
        up += strcmp(d->ports[i].link, "down") != 0;
    }
    top_views_put(p, TOP_HEAD, "silken top  ", program ? program + 1 : d->program);
    localtime_r(&seconds, &at);
    strftime(text, sizeof text, "  %H:%M:%S", &at);
    top_group(p, TOP_PLAIN, text);
    snprintf(text, sizeof text, "  %u of %u ports up", up, devices);
    top_group(p, TOP_PLAIN, text);
    snprintf(text, sizeof text, "  %zu alarm%s", alarms, alarms == 1 ? "" : "s");
    top_group(p, alarms ? TOP_BAD : TOP_PLAIN, text);
    top_line(p);
    put_traffic(p, "in", d->in_packets, d->in_bits);
    put_traffic(p, "  out", d->out_packets, d->out_bits);
    put_rate(p, "dropped", d->dropped);
    if (d->consumed > 0)
        put_rate(p, "consumed", d->consumed);
    put_rate(p, "copies", d->copies);
    put_rate(p, "recirculated", d->recirculated);
    snprintf(text, sizeof text, "  inside %llu", (unsigned long long)d->inside);
    top_group(p, TOP_PLAIN, text);
    top_line(p);
}

// ---- ports ----

static enum top_sort order;
static bool turned;

static int top_views_compare_descending(double a, double b) {
    return a > b ? -1 : a < b;
}

static int top_views_compare_ports(const void *x, const void *y) {
    const struct top_port *a = x, *b = y;
    int c = 0;
    switch (order) {
    case TOP_BY_IN:
        c = top_views_compare_descending(a->in_packets, b->in_packets);
        break;
    case TOP_BY_OUT:
        c = top_views_compare_descending(a->out_packets, b->out_packets);
        break;
    case TOP_BY_DROPS:
        c = top_views_compare_descending(a->drops, b->drops);
        break;
    case TOP_BY_QUEUE:
        c = top_views_compare_descending((double)a->cells + (double)a->waiting,
                                         (double)b->cells + (double)b->waiting);
        break;
    case TOP_BY_NAME:
        c = strcmp(a->name, b->name);
        break;
    default:
        break;
    }
    c = c ? c : (a->port > b->port) - (a->port < b->port);
    return turned ? -c : c;
}

static bool is_quiet(const struct top_port *p) {
    return p->in_packets == 0 && p->out_packets == 0 && p->drops == 0 && !*p->device && !*p->name;
}

// The columns of a width: names take what the numbers leave.
struct columns {
    int name;
    bool bits, queue, reason;
};
static struct columns top_views_columns_of(const struct top_page *p, const struct top_data *d) {
    struct columns c = {.bits = p->width >= 60, .queue = p->width >= 72, .reason = p->width >= 90};
    unsigned longest = 4;
    for (size_t i = 0; i < d->n_ports; i++) {
        const char *name = *d->ports[i].name ? d->ports[i].name : d->ports[i].device;
        const unsigned w = top_width(p, name);
        longest = w > longest ? w : longest;
    }
    int room = (int)p->width - 31 - (c.bits ? 14 : 0) - (c.queue ? 8 : 0) - (c.reason ? 28 : 0);
    room = room < 4 ? 4 : room;
    c.name = (int)longest < room ? (int)longest : room;
    return c;
}

static void port_heading(struct top_page *p, struct columns c) {
    top_cell(p, TOP_HEAD, 4, "port");
    top_put(p, TOP_PLAIN, " ");
    top_cell(p, TOP_HEAD, -c.name, "name");
    top_put(p, TOP_PLAIN, " ");
    top_cell(p, TOP_HEAD, -4, "link");
    top_cell(p, TOP_HEAD, 7, "in/s");
    if (c.bits)
        top_cell(p, TOP_HEAD, 7, "bit/s");
    top_cell(p, TOP_HEAD, 7, "out/s");
    if (c.bits)
        top_cell(p, TOP_HEAD, 7, "bit/s");
    top_cell(p, TOP_HEAD, 7, "drop/s");
    if (c.queue)
        top_cell(p, TOP_HEAD, 8, "queued");
    if (c.reason)
        top_views_put(p, TOP_HEAD, "  ", "most drops");
    top_line(p);
}

// Cells of queues, or packets that the device does not take.
static void queue_cell(struct top_page *p, const struct top_port *port) {
    char text[TOP_NUMBER + 8], n[TOP_NUMBER];
    if (port->cells > 0)
        snprintf(text, sizeof text, "%sc", top_number((double)port->cells, n));
    else
        snprintf(text, sizeof text, "%s", top_number((double)port->waiting, n));
    top_put(p, TOP_PLAIN, " ");
    top_cell(p, port->cells + port->waiting > 0 ? TOP_WARN : TOP_DIM, 7, text);
}

static void port_line(struct top_page *p, const struct top_port *port, struct columns c) {
    char text[32];
    const bool down = strcmp(port->link, "down") == 0;
    snprintf(text, sizeof text, "%u", port->port);
    top_cell(p, TOP_PLAIN, 4, text);
    top_put(p, TOP_PLAIN, " ");
    top_cell(p, TOP_PLAIN, -c.name, *port->name ? port->name : port->device);
    top_put(p, TOP_PLAIN, " ");
    top_cell(p, down ? TOP_BAD : TOP_GOOD, -4, port->link);
    cell_number(p, TOP_PLAIN, 6, port->in_packets);
    if (c.bits)
        cell_number(p, TOP_DIM, 6, port->in_bits);
    cell_number(p, TOP_PLAIN, 6, port->out_packets);
    if (c.bits)
        cell_number(p, TOP_DIM, 6, port->out_bits);
    cell_number(p, port->drops > 0 ? TOP_WARN : TOP_PLAIN, 6, port->drops);
    if (c.queue)
        queue_cell(p, port);
    if (c.reason)
        top_views_put(p, TOP_WARN, "  ", port->reason);
    top_line(p);
}

// At most 'room' lines, with those of the headings.
static void draw_ports(struct top_page *p, struct top_data *d, const struct top_choice *c,
                       unsigned room) {
    const struct columns columns = top_views_columns_of(p, d);
    unsigned hidden = 0, shown = 0, skip = c->from;
    char text[64];
    order = c->sort;
    turned = c->reverse;
    qsort(d->ports, d->n_ports, sizeof *d->ports, top_views_compare_ports);
    port_heading(p, columns);
    for (size_t i = 0; i < d->n_ports; i++) {
        const struct top_port *port = &d->ports[i];
        if (is_quiet(port) && !c->quiet_too)
            continue;
        if (skip > 0) {
            skip--;
            continue;
        }
        if (shown + 2 < room) {
            port_line(p, port, columns);
            shown++;
        } else {
            hidden++;
        }
    }
    if (hidden > 0) {
        snprintf(text, sizeof text, "     and %u more", hidden);
        top_put(p, TOP_DIM, text);
        top_line(p);
    }
}

// ---- drops ----

#define DROP_TEXT 23u // columns before a reason

// Which queues those were of a reason, below it.
static void draw_queue_drops(struct top_page *p, const struct top_data *d, const char *reason,
                             size_t room) {
    const size_t first = p->n_lines;
    char text[96];
    for (size_t i = 0; i < d->n_queue_drops && p->n_lines - first < room; i++) {
        const struct top_queue_drop *q = &d->queue_drops[i];
        if (strcmp(q->reason, reason) != 0)
            continue;
        cell_number(p, q->rate > 0 ? TOP_WARN : TOP_PLAIN, 6, q->rate);
        snprintf(text, sizeof text, "%llu", (unsigned long long)q->total);
        top_cell(p, TOP_PLAIN, 14, text);
        snprintf(text, sizeof text, "    port %u queue %u %s ", q->port, q->queue, q->colour);
        top_flow(p, TOP_PLAIN, DROP_TEXT + 2, text);
        top_flow(p, TOP_DIM, DROP_TEXT + 2, q->name);
        top_line(p);
    }
}

static void draw_drops(struct top_page *p, const struct top_data *d, unsigned room) {
    const unsigned first = p->n_lines;
    char text[64];
    top_cell(p, TOP_HEAD, 7, "drop/s");
    top_cell(p, TOP_HEAD, 14, "in all");
    top_views_put(p, TOP_HEAD, "  ", "reason, and where most are dropped");
    top_line(p);
    for (size_t i = 0; i < d->n_drops && p->n_lines - first < room; i++) {
        const struct top_drop *drop = &d->drops[i];
        cell_number(p, drop->rate > 0 && !drop->consumed ? TOP_WARN : TOP_PLAIN, 6, drop->rate);
        snprintf(text, sizeof text, "%llu", (unsigned long long)drop->total);
        top_cell(p, TOP_PLAIN, 14, text);
        top_put(p, TOP_PLAIN, "  ");
        top_flow(p, TOP_PLAIN, DROP_TEXT, drop->reason);
        snprintf(text, sizeof text, ", port %u ", drop->port);
        top_flow(p, TOP_DIM, DROP_TEXT, text);
        top_flow(p, TOP_DIM, DROP_TEXT, drop->name);
        top_line(p);
        // each reason that is left has a line
        const size_t left = d->n_drops - i - 1, used = p->n_lines - first;
        if (room > used + left)
            draw_queue_drops(p, d, drop->reason, room - used - left);
    }
}

// ---- jobs ----

static void job_line(struct top_page *p, const struct top_job *j) {
    char text[160];
    const bool bad = strcmp(j->state, "stuck") == 0, waits = strcmp(j->state, "waiting") == 0;
    top_cell(p, TOP_PLAIN, -12, j->name);
    top_put(p, TOP_PLAIN, " ");
    top_cell(p, bad ? TOP_BAD : waits ? TOP_WARN : TOP_GOOD, -7, j->state);
    snprintf(text, sizeof text, "%llu/%llu", (unsigned long long)j->workers,
             (unsigned long long)j->size);
    top_cell(p, TOP_PLAIN, 8, j->size ? text : "");
    cell_number(p, TOP_PLAIN, 6, j->packets);
    snprintf(text, sizeof text, "%llu", (unsigned long long)j->waiting);
    top_cell(p, TOP_PLAIN, 8, text);
    snprintf(text, sizeof text, "%.0f%%", 100 * j->complete);
    top_cell(p, TOP_PLAIN, 7, text);
    if (j->has_straggler && j->silent >= 0)
        snprintf(text, sizeof text, "  %llu wait for worker %llu %s, silent %.1f s",
                 (unsigned long long)j->straggler_slots, (unsigned long long)j->straggler, j->where,
                 j->silent);
    else if (j->has_straggler)
        snprintf(text, sizeof text, "  %llu wait for worker %llu %s, never heard from",
                 (unsigned long long)j->straggler_slots, (unsigned long long)j->straggler,
                 j->where);
    else if (j->oldest >= 0)
        snprintf(text, sizeof text, "  aggregators of ATP, the oldest unused for %.1f s",
                 j->oldest);
    else if (strcmp(j->kind, "libra") == 0)
        snprintf(text, sizeof text, "  of Libra");
    if (strcmp(j->kind, "libra") == 0) {
        top_flow(p, TOP_DIM, 2, text);
    } else if (j->has_straggler || j->oldest >= 0) {
        if (top_width(p, text) > p->width - p->column)
            top_line(p);
        top_flow(p, bad ? TOP_BAD : TOP_WARN, 2, text);
    }
    top_line(p);
}

static void draw_jobs(struct top_page *p, const struct top_data *d, const struct top_choice *c,
                      unsigned room) {
    const unsigned first = p->n_lines;
    top_cell(p, TOP_HEAD, -12, "job");
    top_put(p, TOP_PLAIN, " ");
    top_cell(p, TOP_HEAD, -7, "state");
    top_cell(p, TOP_HEAD, 8, "workers");
    top_cell(p, TOP_HEAD, 7, "pkt/s");
    top_cell(p, TOP_HEAD, 8, "waiting");
    top_cell(p, TOP_HEAD, 7, "there");
    top_views_put(p, TOP_HEAD, "  ", "whom for");
    top_line(p);
    for (size_t i = c->view == TOP_JOBS ? c->from : 0; i < d->n_jobs && p->n_lines - first < room;
         i++)
        job_line(p, &d->jobs[i]);
}

// ---- alarms ----

static void draw_alarms(struct top_page *p, const struct top_data *d, unsigned room) {
    const unsigned first = p->n_lines;
    size_t i;
    json_t *a;
    char text[64];
    json_array_foreach((json_t *)d->alarms, i, a) {
        const char *kind = sk_json_text(a, "alarm"), *says = sk_json_text(a, "text");
        const uint64_t since = (uint64_t)json_integer_value(json_object_get(a, "since"));
        if (p->n_lines - first >= room)
            break;
        snprintf(text, sizeof text,
                 "ALARM for %.0f s: ", d->clock > since ? (double)(d->clock - since) / 1e9 : 0.0);
        top_flow(p, TOP_BAD, 2, text);
        top_flow(p, TOP_BAD, 2, kind);
        top_flow(p, TOP_BAD, 2, *kind && *says ? ": " : "");
        top_flow(p, TOP_BAD, 2, says);
        top_line(p);
    }
}

// ---- a page ----

static unsigned room_left(const struct top_page *p, unsigned without) {
    if (!p->height)
        return UINT32_MAX;
    const unsigned used = p->n_lines + without;
    return used < p->height ? p->height - used : 0;
}

// Lines that a list takes, with its heading and the line after it, when it has any.
static unsigned lines_of(size_t n) {
    return n > 0 ? (unsigned)n + 2 : 0;
}

static void draw_all(struct top_page *p, struct top_data *d, const struct top_choice *c) {
    draw_alarms(p, d, 5);
    top_line(p);
    // the jobs and some drops stay in sight, however many ports there are
    unsigned jobs = lines_of(d->n_jobs), drops = lines_of(d->n_drops);
    jobs = jobs < 12 ? jobs : 12;
    drops = drops < 6 ? drops : 6;
    const unsigned room = room_left(p, jobs + drops);
    draw_ports(p, d, c, room < 4 ? 4 : room);
    if (d->n_jobs > 0) {
        top_line(p);
        draw_jobs(p, d, c, jobs == 12 ? 11 : UINT32_MAX);
    }
    if (d->n_drops > 0) {
        top_line(p);
        draw_drops(p, d, room_left(p, 0));
    }
}

void top_draw(struct top_page *p, struct top_data *d, const struct top_choice *c) {
    draw_totals(p, d);
    if (c->view == TOP_ALL) {
        draw_all(p, d, c);
        return;
    }
    top_line(p);
    if (c->view == TOP_PORTS)
        draw_ports(p, d, c, room_left(p, 0));
    else if (c->view == TOP_DROPS)
        draw_drops(p, d, room_left(p, 0));
    else if (c->view == TOP_JOBS)
        draw_jobs(p, d, c, room_left(p, 0));
    else
        draw_alarms(p, d, room_left(p, 0));
}
