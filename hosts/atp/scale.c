// SPDX-License-Identifier: Apache-2.0
//
// The scaling factor of a job, as its server adapts it (ATP, appendix B.3).
//
// Workers do not say how large their values are: the server has seen it when it matters, in the
// floats of what overflowed. Once in a while, which is two windows of fragments, it judges: more
// than one overflow in a thousand, and the factor becomes the greatest power of two with which none
// of the values that were seen would have overflowed, s = (2^31 - n) / (n b); none at all, and sums
// far from the limit even if all workers had been of one sign, and it doubles, up to what is below
// 1e8.
//
// A change holds from a fragment on that is a window after the one which brings the news, so that
// nobody can send it without having them; the next change is said after that one.
#include <math.h>

#include "hosts/atp/server_impl.h"

#define GREATEST_EXPONENT 26 // 2^26 < 1e8
#define LEAST_EXPONENT    (-64)
#define ONE_IN            1000

void atp_scale_init(struct atp_server *s) {
    s->scaling = (struct atp_scaling){.scale = ATP_SCALE, .judged_at = s->first};
}

double atp_scale_of(const struct atp_server *s, uint64_t number) {
    const struct atp_scaling *c = &s->scaling;

    return c->coming != 0 && number >= c->from ? c->coming : c->scale;
}

void atp_scale_see_sum(struct atp_server *s, const uint8_t *values) {
    uint32_t greatest;

    if (s->config.dynamic_scale) {
        greatest = s->numbers->greatest(values);
        s->scaling.greatest = greatest > s->scaling.greatest ? greatest : s->scaling.greatest;
    }
}

void atp_scale_see_floats(struct atp_server *s, const uint8_t *values) {
    float greatest;

    if (s->config.dynamic_scale) {
        greatest = s->numbers->greatest_float(values);
        if (isfinite(greatest) && greatest > s->scaling.greatest_float)
            s->scaling.greatest_float = greatest;
    }
}

// The exponent that should be used from now on, given the present one.
static int atp_scale_exponent_wanted(const struct atp_server *s, uint64_t fragments, int present) {
    const struct atp_scaling *c = &s->scaling;
    double n = s->config.shape.workers;
    int exponent = present;

    if ((uint64_t)c->overflows * ONE_IN > fragments && c->greatest_float > 0) {
        exponent = (int)floor(log2((0x1p31 - n) / (n * (double)c->greatest_float)));
        exponent = exponent < present ? exponent : present;
    } else if (c->overflows == 0 && (double)c->greatest * 4 * n < 0x1p31) {
        exponent = present + 1;
    }
    return exponent > GREATEST_EXPONENT ? GREATEST_EXPONENT
           : exponent < LEAST_EXPONENT  ? LEAST_EXPONENT
                                        : exponent;
}

uint32_t atp_scale_judge(struct atp_server *s, const struct atp_fragment *f) {
    struct atp_scaling *c = &s->scaling;
    uint64_t fragments = f->number - c->judged_at, window = s->config.window_max;
    struct atp_scale scale;
    int present;

    if (!s->config.dynamic_scale || s->config.type != ATP_F32)
        return 0;
    if (c->coming != 0) {
        // everything in front of `from` is complete: the news are old
        if (s->first < c->from || f->number < c->from)
            return 0;
        c->scale = c->coming;
        c->coming = 0;
    }
    if (f->number < c->judged_at || fragments < 2 * window)
        return 0;
    present = (int)floor(log2(c->scale));
    scale = (struct atp_scale){.exponent = (int8_t)atp_scale_exponent_wanted(s, fragments, present),
                               .after = (uint32_t)window};
    c->judged_at = f->number;
    c->overflows = 0;
    c->greatest = 0;
    c->greatest_float = 0;
    if (scale.exponent == present)
        return 0;
    c->coming = ldexp(1, scale.exponent);
    c->from = f->number + window;
    return atp_scale_pack(&scale);
}
