// SPDX-License-Identifier: Apache-2.0
#include "cli/demo/result.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct job_totals job_totals(const struct board *b) {
    struct job_totals t = {.steps = UINT32_MAX};

    for (unsigned w = 0; w < b->workers; w++) {
        const struct board_status *s = &b->status[w];
        unsigned finished = s->finished;
        t.steps = finished < t.steps ? finished : t.steps;
        t.published += s->published;
        t.loss += s->loss / b->workers;
        t.accuracy += s->accuracy / b->workers;
        t.reduce_seconds += (double)s->reduce_ns / 1e9 / b->workers;
        t.sent += s->sent;
        t.answers += s->answers;
        t.retransmissions += s->retransmissions;
        t.losses += s->losses;
        t.timeouts += s->timeouts;
    }
    return t;
}

struct server_totals server_totals(const struct board *b) {
    struct server_totals t = {0};

    for (unsigned i = 0; i < DEMO_MAX_SERVERS; i++) {
        const struct board_server *s = &b->server[i];
        t.completed += s->completed;
        t.in_switches += s->in_switches;
        t.from_one += s->from_one;
        t.from_some += s->from_some;
        t.rehashed += s->rehashed;
        t.marks += s->marks;
        t.overflows += s->overflows;
        t.repeated += s->repeated;
    }
    return t;
}

// ---- accuracy -----------------------------------------------------------------------------------

static void print_accuracy(struct report *r, const char *label, const float *weights,
                           const struct dataset *test) {
    struct model_score score = model_evaluate(weights, test);

    report_result(r, label, "%.2f %% (%zu of %zu test images)",
                  100 * (double)score.correct / (double)score.images, score.correct, score.images);
}

static void demo_result_print_difference(struct report *r, const float *a, const float *b) {
    double largest = 0, size = 0;

    for (size_t i = 0; i < MODEL_PARAMS; i++) {
        largest = fmax(largest, fabs((double)a[i] - (double)b[i]));
        size = fmax(size, fabs((double)b[i]));
    }
    report_result(r, "largest weight difference", "%.2g (largest weight: %.2g)", largest, size);
}

// ---- traffic ------------------------------------------------------------------------------------

static void print_traffic(struct report *r, const struct board *b, unsigned steps) {
    struct job_totals t = job_totals(b);
    double elements = (double)MODEL_PARAMS * steps;
    double rate = t.reduce_seconds > 0 ? elements / t.reduce_seconds : 0;
    char packets[27];

    report_result(r, "packets aggregated", "%s", report_grouped(t.answers, packets));
    report_result(r, "aggregation throughput", "%.1f million elements/s, %.2f Gbit/s per worker",
                  rate / 1e6, rate * 32 / 1e9);
    report_result(r, "retransmissions", "%s", report_grouped(t.retransmissions, packets));
}

static void print_line_of(struct report *r, const char *label, uint64_t n, const char *rest) {
    char number[27];

    report_result(r, label, "%s%s", report_grouped(n, number), rest);
}

static void demo_result_print_atp(struct report *r, const struct board *b) {
    struct server_totals s = server_totals(b);
    struct job_totals t = job_totals(b);
    char fragments[27], whole[27], some[27], one[27], losses[27], timeouts[27];

    report_result(r, "fragments at the server",
                  "%s: %s complete sums of switches, %s partial sums and %s gradients",
                  report_grouped(s.completed, fragments), report_grouped(s.in_switches, whole),
                  report_grouped(s.from_some, some), report_grouped(s.from_one, one));
    report_result(r, "reasons of retransmissions", "%s losses noticed, %s timeouts",
                  report_grouped(t.losses, losses), report_grouped(t.timeouts, timeouts));
    print_line_of(r, "aggregators rehashed", s.rehashed, " after collisions");
    print_line_of(r, "congestion marks", s.marks, "");
    print_line_of(r, "overflows", s.overflows, " fragments sent again as floats");
}

// ---- the verdict --------------------------------------------------------------------------------

static bool sums_within_bounds(struct report *r, const struct board *b, unsigned steps) {
    struct verify_tally total = {0};
    uint64_t due = (uint64_t)MODEL_PARAMS * steps * b->workers;
    char sums[27], expected[27];

    for (unsigned w = 0; w < b->workers; w++) {
        const struct verify_tally *t = &b->status[w].tally;
        total.sums += t->sums;
        total.failed += t->failed;
        total.worst = fmax(total.worst, t->worst);
        total.errors += t->errors;
        total.squares += t->squares;
    }
    report_result(r, "sums checked", "%s, largest error %.2f of the bound%s",
                  report_grouped(total.sums, sums), total.worst,
                  total.squares > 0 ? " of 16-bit floats" : " n/f");
    if (total.squares > 0) {
        report_result(r, "lost to 16-bit floats",
                      "%.4f%% of a gradient (root mean square of the sums' errors, of the sums)",
                      100 * sqrt(total.errors / total.squares));
    }
    if (total.sums != due || total.failed) {
        report_result(r, "NOT VERIFIED", "%llu sums were wrong; %s of %s were checked",
                      (unsigned long long)total.failed, sums, report_grouped(due, expected));
        return false;
    }
    return true;
}

static bool weights_agree(struct report *r, const struct board *b) {
    for (unsigned w = 1; w < b->workers; w++) {
        if (memcmp(board_weights(b, 0), board_weights(b, w), MODEL_PARAMS * sizeof(float)) != 0) {
            report_result(r, "NOT VERIFIED", "workers 0 and %u ended with different weights", w);
            return false;
        }
    }
    return true;
}

bool result_print(struct report *r, const struct board *b, const float *reference,
                  const struct train_plan *plan, const struct dataset *test, bool atp) {
    const float *through_switch = board_weights(b, 0);
    bool good;

    print_accuracy(r, "accuracy through the switch", through_switch, test);
    print_accuracy(r, "accuracy of one process", reference, test);
    demo_result_print_difference(r, through_switch, reference);
    print_traffic(r, b, plan->steps);
    if (atp) {
        demo_result_print_atp(r, b);
    }
    good = sums_within_bounds(r, b, plan->steps);
    return weights_agree(r, b) && good;
}
