// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a scenario: refused with a sentence, or a scenario whose numbers can be drawn.
#include <stdlib.h>

#include "sim/libra/scenario.h"
#include "sim/scenario.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct sk_error err = {""};
    struct scenario *s = sim_scenario_parse("fuzz.json", (const char *)data, size, &err);
    if (!s && !err.text[0])
        abort(); // refused without a word
    struct sim_random r = sim_random_of(1, "fuzz");
    for (size_t i = 0; s && i < s->n_cables; i++) {
        const double gbps = sim_draw(&r, &s->cables[i].line.gbps);
        if (!(gbps >= 0 && gbps <= 1000) || s->cables[i].a >= s->n_stations ||
            s->cables[i].b >= s->n_stations)
            abort();
    }
    for (size_t i = 0; s && i < s->n_jobs; i++)
        for (size_t w = 0; w < s->jobs[i].n_workers; w++)
            if (s->jobs[i].workers[w] >= s->n_stations)
                abort();
    for (size_t i = 0; s && i < s->n_jobs; i++)
        if (s->jobs[i].sessions &&
            (s->jobs[i].work.count.low < 1 || s->jobs[i].flows != s->jobs[i].n_servers))
            abort();
    for (size_t i = 0; s && i < s->n_libra; i++)
        if (s->libra[i].n_servers < 1 || s->libra[i].n_servers > 16 || s->libra[i].draws < 1 ||
            s->libra[i].hot > s->libra[i].parameters || s->libra[i].window.high < 1 ||
            (s->libra[i].at != SCN_NONE && s->libra[i].at >= s->n_stations))
            abort();
    if (s && s->controller &&
        (s->controller->from >= s->n_stations || s->controller->standby >= s->n_stations))
        abort();
    for (size_t i = 0; s && i < s->n_jobs; i++) {
        const struct scn_exchange *x = s->jobs[i].exchange;
        for (size_t w = 0; x && w < x->n_workers + x->n_servers; w++)
            if ((w < x->n_workers ? x->workers[w] : x->servers[w - x->n_workers]) >= s->n_stations)
                abort();
        if (x &&
            (!x->n_workers || (x->form == SCN_SERVERS && !x->n_servers) || x->bound >= 1000000 ||
             (x->transport == SCN_PFABRIC && x->dscp + x->levels.n > 64) ||
             !s->jobs[i].work.n_layers))
            abort();
    }
    for (size_t i = 0; s && i < s->n_faults; i++) {
        const struct scn_fault *f = &s->faults[i];
        const double times = sim_draw(&r, &f->times), late = sim_draw(&r, &f->late_us);
        if (!(times >= 0 && times <= 1000) || !(late >= 0) || f->kind > SCN_MIGRATE)
            abort();
        for (size_t k = 0; k < f->n_stations; k++)
            if (f->stations[k] >= s->n_stations)
                abort();
    }
    sim_scenario_free(s);
    return 0;
}
