// SPDX-License-Identifier: Apache-2.0
#include "cli/run/run.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "control/config/controllers.h"

// Which port a 0 has become.
static void print_listener(const char *what, const char *listen, uint16_t port) {
    const size_t n = strlen(listen);
    printf("%s %s", what, listen);
    if (n > 2 && strcmp(listen + n - 2, ":0") == 0)
        printf(" (port %u)", port);
    putchar('\n');
}

void run_print_start(const struct run *r) {
    const struct sk_config *c = r->config;
    printf("program %s\n", sk_switch_program(r->sw)->path);
    for (size_t i = 0; i < c->n_ports; i++)
        printf("port %3u  %s%s%s\n", c->ports[i].port, c->ports[i].device,
               c->ports[i].name ? "  " : "", c->ports[i].name ? c->ports[i].name : "");
    if (r->opt.n_lcores > 1)
        for (unsigned i = 0; i < c->pipes; i++)
            printf("pipe %u    lcore %u\n", i, sk_switch_core_of(r->sw, i));
    if (c->control_socket)
        printf("control socket %s\n", c->control_socket);
    if (c->metrics.listen)
        print_listener("metrics", c->metrics.listen, run_watch_port(r));
    if (c->page.listen)
        print_listener("page", c->page.listen, run_page_port(r));
    if (sk_config_bfrt(c).listen)
        print_listener("bfrt", sk_config_bfrt(c).listen, run_brt_port(r));
    if (sk_config_p4runtime(c).listen)
        print_listener("p4runtime", sk_config_p4runtime(c).listen, run_p4rt_port(r));
    if (c->job_service.listen)
        print_listener("job service", c->job_service.listen, run_jobs_port(r));
    if (c->switchml_jobs.listen)
        print_listener("switchml jobs", c->switchml_jobs.listen, run_published_port(r));
    if (c->telemetry)
        printf("telemetry %s\n", sk_ports_telemetry());
    puts("ready");
}

static uint64_t all_drops(const struct sk_switch_stats *s) {
    uint64_t n = 0;
    for (int i = 0; i < SK_DROP_COUNT; i++)
        n += s->drops[i];
    return n;
}

void run_print_rates(struct run *r, uint64_t now) {
    struct sk_switch_stats s;
    struct run_control *c = &r->control;
    run_pause(r);
    sk_switch_stats(r->sw, &s);
    run_resume_same(r);
    double seconds = (double)(now - c->stats_from) / 1e9;
    printf("received %9.0f/s  sent %9.0f/s  recirculated %9.0f/s  dropped %9.0f/s\n",
           (double)(s.rx_packets - c->last.rx_packets) / seconds,
           (double)(s.tx_packets - c->last.tx_packets) / seconds,
           (double)(s.recirculated - c->last.recirculated) / seconds,
           (double)(all_drops(&s) - all_drops(&c->last)) / seconds);
    c->last = s;
    c->stats_from = now;
}

static bool print_violation(void *aux, const struct sk_violation_view *v) {
    (void)aux;
    printf("checked: %s:%u:%u: %s %s: %" PRIu64 " times, first in packet %" PRIu64 "\n",
           v->at ? v->at->file : "?", v->at ? v->at->line : 0, v->at ? v->at->column : 0, v->name,
           sk_violation_word(v->violation), v->count, v->first_packet);
    return true;
}

bool run_print_end(const struct run *r, uint32_t lost_buffers) {
    struct sk_switch_stats s;
    sk_switch_stats(r->sw, &s);
    uint64_t in = s.rx_packets + s.copies + s.generated, out = s.tx_packets + all_drops(&s);
    printf("received %" PRIu64 " + copies %" PRIu64, s.rx_packets, s.copies);
    if (s.generated)
        printf(" + generated %" PRIu64, s.generated);
    printf(" = sent %" PRIu64 " + dropped %" PRIu64, s.tx_packets, all_drops(&s));
    putchar('\n');
    for (int i = 0; i < SK_DROP_COUNT; i++)
        if (s.drops[i] > 0)
            printf("  %-40s %" PRIu64 "\n", sk_drop_text((enum sk_drop_reason)i), s.drops[i]);
    if (r->violations)
        sk_violations_each(r->violations, print_violation, NULL);
    uint32_t inside = sk_switch_inside(r->sw);
    if (in != out || inside > 0)
        fprintf(stderr,
                "silken run: fault: %" PRIu64 " packets in and %" PRIu64 " out, %u still inside\n",
                in, out, inside);
    if (lost_buffers > 0)
        fprintf(stderr, "silken run: fault: %u packet buffers of ports were not returned\n",
                lost_buffers);
    return in == out && inside == 0 && lost_buffers == 0;
}
