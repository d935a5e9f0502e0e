// SPDX-License-Identifier: Apache-2.0
//
// A comparison, as a table, as JSON and as a picture.
#include "cli/compare/compare.h"

#include "sim/result.h"

#define MB 1e6

static void report_cell(FILE *out, int width, int places, double value, bool known) {
    if (known)
        fprintf(out, " %*.*f", width, places, value);
    else
        fprintf(out, " %*s", width, "-");
}

void compare_print(const struct compare_setting *s, const struct compare_row *rows, FILE *out) {
    const bool several = s->racks > 1;
    fprintf(out, "%s: %u %s of %u workers%s, %u job%s, %llu iterations, %llu seeds, %s\n", s->name,
            s->racks, several ? "racks" : "rack", s->hosts, s->spines ? " with spines" : "",
            s->jobs, s->jobs > 1 ? "s" : "", (unsigned long long)s->iterations,
            (unsigned long long)s->seeds, s->transport);
    fprintf(out, "computing alone takes %.3f ms an iteration\n\n", s->computing_us / 1000);
    fprintf(out, "%-14s %10s %10s %10s %9s %9s %9s %9s %7s %7s %9s %9s %8s\n", "", "iteration",
            "least", "greatest", "out", "in", "trunks", "busiest", "again", "lost", "memory",
            "host", "accuracy");
    fprintf(out, "%-14s %10s %10s %10s %9s %9s %9s %9s %7s %7s %9s %9s %8s\n", "", "ms", "ms", "ms",
            "MB", "MB", "MB", "MB", "packets", "%", "MB", "ms", "%");
    for (size_t i = 0; i < COMPARE_SYSTEMS; i++) {
        const struct compare_row *r = &rows[i];
        if (!s->wanted[i])
            continue;
        fprintf(out, "%-14s", compare_names[i]);
        if (r->refused) {
            fprintf(out, "  %s\n", r->refused);
            continue;
        }
        report_cell(out, 10, 3, r->iteration_us / 1000, true);
        report_cell(out, 10, 3, r->least_us / 1000, true);
        report_cell(out, 10, 3, r->greatest_us / 1000, true);
        report_cell(out, 9, 3, r->up / MB, true);
        report_cell(out, 9, 3, r->down / MB, true);
        report_cell(out, 9, 3, r->trunks / MB, several);
        report_cell(out, 9, 3, r->busiest / MB, true);
        report_cell(out, 7, 0, r->again, true);
        report_cell(out, 7, 3, r->lost * 100, i == COMPARE_DLCP || i == COMPARE_DLCP_RING);
        report_cell(out, 9, 3, r->memory / MB, r->memory > 0);
        report_cell(out, 9, 3, r->host_us / 1000, r->host_us > 0);
        report_cell(out, 8, 2, r->accuracy, r->accuracy > 0);
        fputc('\n', out);
    }
}

json_t *compare_json(const struct compare_setting *s, const struct compare_row *rows) {
    json_t *o = json_object(), *systems = json_array();
    json_object_set_new(o, "name", json_string(s->name));
    for (size_t i = 0; i < COMPARE_SYSTEMS; i++) {
        const struct compare_row *r = &rows[i];
        if (!s->wanted[i])
            continue;
        json_t *one = json_pack("{s:s}", "system", compare_names[i]);
        json_array_append_new(systems, one);
        if (r->refused) {
            json_object_set_new(one, "refused", json_string(r->refused));
            continue;
        }
        json_object_set_new(one, "iteration_us", json_real(r->iteration_us));
        json_object_set_new(one, "least_us", json_real(r->least_us));
        json_object_set_new(one, "greatest_us", json_real(r->greatest_us));
        json_object_set_new(one, "worker_bytes_out", json_real(r->up));
        json_object_set_new(one, "worker_bytes_in", json_real(r->down));
        json_object_set_new(one, "trunk_bytes", json_real(r->trunks));
        json_object_set_new(one, "busiest_link_bytes", json_real(r->busiest));
        json_object_set_new(one, "sent_again", json_real(r->again));
        if (i == COMPARE_DLCP || i == COMPARE_DLCP_RING)
            json_object_set_new(one, "elements_lost", json_real(r->lost));
        if (r->memory > 0)
            json_object_set_new(one, "switch_bytes", json_real(r->memory));
        if (r->host_us > 0)
            json_object_set_new(one, "host_us", json_real(r->host_us));
        if (r->accuracy > 0)
            json_object_set_new(one, "accuracy", json_real(r->accuracy));
        json_object_set(one, "link_bytes", r->links);
    }
    json_object_set_new(o, "computing_us", json_real(s->computing_us));
    json_object_set_new(o, "systems", systems);
    return o;
}

struct report_picture {
    const struct compare_setting *s;
    const struct compare_row *rows;
};

static void report_script(FILE *f, const void *what) {
    const struct report_picture *p = what;
    fputs("set terminal pngcairo size 1000,560\nset ylabel 'ms an iteration'\nset yrange [0:*]\n"
          "set grid ytics\nset style fill solid 0.6\nset boxwidth 0.7\nunset key\n"
          "set xtics rotate by -30\nset title '",
          f);
    plot_name(f, p->s->name);
    fputs("'\nplot '-' using 0:2:xtic(1) with boxes, '-' using 0:2:3:4 with yerrorbars lw 2\n", f);
    for (int turn = 0; turn < 2; turn++) {
        for (size_t i = 0; i < COMPARE_SYSTEMS; i++)
            if (p->s->wanted[i] && !p->rows[i].refused)
                fprintf(f, "\"%s\" %g %g %g\n", compare_names[i], p->rows[i].iteration_us / 1000,
                        p->rows[i].least_us / 1000, p->rows[i].greatest_us / 1000);
        fputs("e\n", f);
    }
}

int compare_plot(const struct compare_setting *s, const struct compare_row *rows, const char *path,
                 struct sk_error *err) {
    const struct report_picture p = {s, rows};
    return plot_draw(report_script, &p, path, err);
}
