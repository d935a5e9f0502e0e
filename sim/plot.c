// SPDX-License-Identifier: Apache-2.0
//
// A picture of a run's series: throughput of jobs and of background traffic over time. gnuplot
// draws it.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "sim/result.h"

static void put_points(FILE *f, const json_t *us, const json_t *values) {
    for (size_t i = 0; i < json_array_size(us) && i < json_array_size(values); i++)
        fprintf(f, "%g %g\n", json_number_value(json_array_get(us, i)) / 1000,
                json_number_value(json_array_get(values, i)));
    fputs("e\n", f);
}

void plot_name(FILE *f, const char *name) {
    for (; *name; name++)
        fputc(strchr("'\"\\\n@{}_^&~", *name) ? ' ' : *name, f);
}

static void put_script(FILE *f, const json_t *result) {
    const json_t *series = json_object_get(result, "series");
    json_t *jobs = json_object_get(series, "jobs"), *others = json_object_get(series, "background"),
           *us = json_object_get(series, "us"), *value;
    const char *name, *separator = "plot";
    fputs("set terminal pngcairo size 1000,560\nset xlabel 'ms'\nset ylabel 'Gbps'\n"
          "set grid\nset key outside below\nset yrange [0:*]\nset title '",
          f);
    plot_name(f, json_string_value(json_object_get(result, "scenario")));
    fputs("'\n", f);
    json_object_foreach(jobs, name, value) {
        fprintf(f, "%s '-' using 1:2 with lines lw 2 title '", separator);
        plot_name(f, name);
        fputs("'", f);
        separator = ",";
    }
    json_object_foreach(others, name, value) {
        fprintf(f, "%s '-' using 1:2 with lines dt 2 title '", separator);
        plot_name(f, name);
        fputs("'", f);
        separator = ",";
    }
    fputs("\n", f);
    json_object_foreach(jobs, name, value) {
        put_points(f, us, json_object_get(value, "gbps"));
    }
    json_object_foreach(others, name, value) {
        put_points(f, us, value);
    }
}

// gnuplot reads its commands from the file 'script' and writes the picture to its standard output,
// which is the file at 'path': so that is nothing that it could read as a command.
static pid_t start_gnuplot(FILE *script, FILE *out) {
    const pid_t id = fork();
    if (id == 0) {
        if (dup2(fileno(script), 0) < 0 || dup2(fileno(out), 1) < 0)
            _exit(126);
        execlp("gnuplot", "gnuplot", "-", (char *)NULL);
        _exit(errno == ENOENT ? 127 : 126);
    }
    return id;
}

// gnuplot does not say when a picture cannot be written: it draws into a file of ours, which is
// copied.
static int sim_plot_copy_to(FILE *from, const char *path, struct sk_error *err) {
    char bytes[65536];
    size_t n;
    FILE *to = fseek(from, 0, SEEK_SET) == 0 ? fopen(path, "wbe") : NULL;
    bool good = to;
    while (good && (n = fread(bytes, 1, sizeof bytes, from)) > 0)
        good = fwrite(bytes, 1, n, to) == n;
    good = good && !ferror(from);
    if (to && fclose(to) != 0)
        good = false;
    return good ? 0 : sk_fail(err, "cannot write %s: %s", path, strerror(errno));
}

static int sim_plot_wait_for(pid_t id, const char *path, struct sk_error *err) {
    int status = 0;
    while (waitpid(id, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return sk_fail(err, "gnuplot is not installed (Debian package gnuplot-nox)");
    return sk_fail(err, "gnuplot did not draw %s", path);
}

int plot_draw(void (*write_script)(FILE *f, const void *what), const void *what, const char *path,
              struct sk_error *err) {
    FILE *script = tmpfile(), *picture = tmpfile();
    if (!script || !picture) {
        if (script)
            fclose(script);
        if (picture)
            fclose(picture);
        return sk_fail(err, "no temporary file: %s", strerror(errno));
    }
    write_script(script, what);
    int status = 0;
    if (fflush(script) != 0 || fseek(script, 0, SEEK_SET) != 0)
        status = sk_fail(err, "cannot write a temporary file: %s", strerror(errno));
    const pid_t id = status == 0 ? start_gnuplot(script, picture) : -1;
    if (status == 0)
        status = id < 0 ? sk_fail(err, "no process: %s", strerror(errno))
                        : sim_plot_wait_for(id, path, err);
    if (status == 0)
        status = sim_plot_copy_to(picture, path, err);
    fclose(script);
    fclose(picture);
    return status;
}

static void plot_write(FILE *f, const void *result) {
    put_script(f, result);
}

int plot_result(const json_t *result, const char *path, struct sk_error *err) {
    if (!json_object_get(result, "series"))
        return sk_fail(err, "there is nothing to plot: the scenario has no sample_us");
    return plot_draw(plot_write, result, path, err);
}
