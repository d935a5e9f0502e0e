// SPDX-License-Identifier: Apache-2.0
//
// jobs_racks: who has which bits in a job of ATP whose hosts are in several racks, each below a
// switch of its own.
//
// The rule is the hosts' (hosts/atp/frame.h, PLACES), and all switches of a job have to find the
// same: workers of a rack without the server have a bit of bitmap0 each, by rank, and their rack
// one of bitmap1; a worker in the server's rack is beside those racks, and has a bit of bitmap1 for
// itself. When all are in one rack it is that rack's switch that adds up, and there is no second
// level.
#include "control/tor/jobs_impl.h"

static bool jobs_racks_in_one_rack(const struct jobs_job *job) {
    for (size_t i = 1; i < job->n_workers; i++)
        if (job->workers[i].rack != job->workers[0].rack)
            return false;
    return true;
}

void jobs_give_bits(struct jobs_job *job) {
    const bool one = jobs_racks_in_one_rack(job);
    uint32_t below[JOBS_WORKERS] = {0}; // by bit of bitmap1: who is below that switch
    unsigned bit_of[JOBS_WORKERS], members[JOBS_WORKERS] = {0}, n = 0;
    for (size_t i = 0; i < job->n_workers; i++) {
        struct jobs_host *w = &job->workers[i];
        const bool beside = !one && w->rack == job->server_rack;
        size_t first = i; // of its rack
        for (size_t k = i; !beside && k-- > 0;)
            if (job->workers[k].rack == w->rack)
                first = k;
        bit_of[i] = first == i ? n++ : bit_of[first];
        w->bitmap0 = beside ? 0 : UINT32_C(1) << members[bit_of[i]];
        w->bitmap1 = UINT32_C(1) << bit_of[i];
        members[bit_of[i]]++;
        below[bit_of[i]] |= w->bitmap0;
    }
    for (size_t i = 0; i < job->n_workers; i++) {
        struct jobs_host *w = &job->workers[i];
        const uint16_t fan_ins = (uint16_t)((members[bit_of[i]] - 1) << 8 | (n - 1));
        // its gradients, and what its rack's switch makes of them
        w->marks = w->bitmap0 ? fan_ins : JOBS_EDGE | fan_ins;
        w->others0 = ~below[bit_of[i]];
    }
}
