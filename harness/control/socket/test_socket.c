// SPDX-License-Identifier: Apache-2.0
//
// Requests and the control socket: each request's effect, refusals, pages, and clients that
// misbehave.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "control/socket/recording.h"
#include "control/socket/socket.h"
#include "harness/pipeline/toy_program.h"

struct bench {
    struct sk_program *prog;
    struct sk_switch *sw;
    struct sk_service service;
    char folder[64], path[96];
    struct sk_server *server;
    pthread_t thread;
    atomic_bool stop;
};

static int setup(void **state) {
    struct bench *b = calloc(1, sizeof *b);
    char error[256];
    b->prog = toy_load();
    b->sw = sk_switch_new(b->prog, &(struct sk_switch_options){.tx = sk_tx_nowhere, .n_packets = 8},
                          error, sizeof error);
    assert_non_null(b->sw);
    b->service.sw = b->sw;
    strcpy(b->folder, "/tmp/silken-test-XXXXXX");
    assert_non_null(mkdtemp(b->folder));
    snprintf(b->path, sizeof b->path, "%s/s.sock", b->folder);
    *state = b;
    return 0;
}

static int teardown(void **state) {
    struct bench *b = *state;
    sk_switch_free(b->sw);
    sk_program_free(b->prog);
    rmdir(b->folder);
    free(b);
    return 0;
}

// ---- requests ----

static json_t *ask(struct bench *b, const char *text) {
    json_t *reply = sk_request(&b->service, text, strlen(text));
    if (!json_is_true(json_object_get(reply, "ok")))
        fail_msg("%s: %s", text, json_string_value(json_object_get(reply, "error")));
    json_t *result = json_incref(json_object_get(reply, "result"));
    json_decref(reply);
    return result;
}

static void ask_refused(struct bench *b, const char *text, const char *says) {
    json_t *reply = sk_request(&b->service, text, strlen(text));
    const char *error = json_string_value(json_object_get(reply, "error"));
    if (!error || !strstr(error, says))
        fail_msg("%s: expected '%s', got '%s'", text, says, error ? error : "(accepted)");
    json_decref(reply);
}

static void ask_refused_with(struct bench *b, const char *text, const char *sentence) {
    json_t *reply = sk_request(&b->service, text, strlen(text));
    assert_string_equal(json_string_value(json_object_get(reply, "error")), sentence);
    json_decref(reply);
}

static void expect_dump(struct bench *b, const char *request, const char *want) {
    json_t *result = ask(b, request);
    char *text = json_dumps(result, JSON_COMPACT | JSON_SORT_KEYS);
    if (!strstr(text, want))
        fail_msg("%s: expected '%s' in %s", request, want, text);
    free(text);
    json_decref(result);
}

static void test_tables(void **state) {
    struct bench *b = *state;
    json_decref(ask(b, "{\"op\":\"table.add\",\"table\":\"route\",\"key\":{\"vrf\":3,"
                       "\"dst_addr\":\"2001:db8::/32\"},\"action\":\"wide\","
                       "\"args\":{\"delta\":-5,\"address\":\"::1\"}}"));
    expect_dump(b, "{\"op\":\"table.dump\",\"table\":\"route\"}",
                "\"args\":{\"address\":\"0x1\",\"delta\":\"-5\"}");
    expect_dump(b, "{\"op\":\"table.dump\",\"table\":\"route\",\"pipe\":3}",
                "\"key\":{\"hdr.ipv6.dst_addr\":\"0x20010db8000000000000000000000000/32\","
                "\"md.vrf\":\"3\"}");
    json_decref(ask(b, "{\"op\":\"table.modify\",\"table\":\"route\",\"key\":{\"vrf\":3,"
                       "\"dst_addr\":\"2001:db8::/32\"},\"action\":\"drop\"}"));
    expect_dump(b, "{\"op\":\"table.dump\",\"table\":\"route\"}",
                "\"action\":\"pipe.Ingress.drop\"");
    json_decref(ask(b, "{\"op\":\"table.delete\",\"table\":\"route\",\"key\":{\"vrf\":3,"
                       "\"dst_addr\":\"2001:db8::/32\"}}"));
    expect_dump(b, "{\"op\":\"table.dump\",\"table\":\"route\"}", "\"entries\":[]");
    json_decref(ask(b, "{\"op\":\"table.default\",\"table\":\"forward\",\"action\":\"send\","
                       "\"args\":{\"port\":7}}"));
    expect_dump(b, "{\"op\":\"table.dump\",\"table\":\"forward\"}",
                "\"default\":{\"action\":\"pipe.Ingress.send\",\"args\":{\"port\":\"7\"}");
    json_decref(ask(b, "{\"op\":\"table.clear\",\"table\":\"forward\"}"));
}

static void test_registers_and_counters(void **state) {
    struct bench *b = *state;
    json_decref(ask(b, "{\"op\":\"register.write\",\"name\":\"pair\",\"index\":2,"
                       "\"value\":{\"low\":1,\"high\":-2},\"pipe\":1}"));
    expect_dump(b, "{\"op\":\"register.read\",\"name\":\"pair\",\"from\":2,\"count\":1}",
                "\"cells\":[{\"high\":[\"7\",\"-2\",\"7\",\"7\"],\"index\":2,"
                "\"low\":[\"-1\",\"1\",\"-1\",\"-1\"]}]");
    // the second field does not fit: the first must not be written either
    ask_refused(b,
                "{\"op\":\"register.write\",\"name\":\"pair\",\"index\":2,"
                "\"value\":{\"low\":9,\"high\":70000}}",
                "does not fit");
    expect_dump(b, "{\"op\":\"register.read\",\"name\":\"pair\",\"from\":2,\"count\":1}",
                "\"low\":[\"-1\",\"1\",\"-1\",\"-1\"]");
    expect_dump(b, "{\"op\":\"register.read\",\"name\":\"count\"}", "\"pipes\":[0,1,2,3]");
    expect_dump(b, "{\"op\":\"counter.read\",\"name\":\"seen\",\"from\":500,\"count\":12}",
                "\"index\":511");
    ask_refused(b, "{\"op\":\"counter.read\",\"name\":\"seen\",\"from\":512}", "no index 512");
}

// Of clients that wait for the memory of one that went away, one records, and the others end
// nothing.
static void test_several_want_to_record(void **state) {
    static const char start[] = "{\"op\":\"record.start\",\"ring\":128}";
    struct bench *b = *state;
    struct sk_recording *recording = sk_recording_new(b->sw);
    bool records[3] = {false};
    int passed[3] = {-1, -1, -1};
    struct bench clients[3] = {*b, *b, *b};
    for (unsigned i = 0; i < 3; i++) {
        clients[i].service.recording = recording;
        clients[i].service.records = &records[i];
        clients[i].service.pass = &passed[i];
    }
    expect_dump(&clients[0], start, "preparing");
    assert_true(records[0]);
    sk_recording_stop(recording); // it went away
    expect_dump(&clients[1], start, "preparing");
    // is to ask again while that memory is still being made, or is refused
    json_decref(sk_request(&clients[2].service, start, strlen(start)));
    assert_false(records[2]);
    while (passed[1] < 0) {
        json_decref(ask(&clients[1], start));
        usleep(1000);
    }
    assert_true(records[1]);
    assert_false(records[2]);
    ask_refused(&clients[2], start, "another client is recording this switch already");
    ask_refused(&clients[2], "{\"op\":\"record.stop\"}", "this client records nothing");
    json_decref(ask(&clients[1], "{\"op\":\"record.stop\"}"));
    sk_recording_free(recording);
}

static void test_port_metadata(void **state) {
    struct bench *b = *state;
    static const uint8_t packed[SK_RESUBMIT_BYTES] = {0x12, 0x3f, 0xe0, 0, 0, 0, 0, 0x50};
    json_decref(ask(b, "{\"op\":\"port.metadata\",\"port\":5,"
                       "\"metadata\":{\"vrf\":\"0x123\",\"zone\":-2,\"rest\":5}}"));
    assert_memory_equal(sk_switch_port_metadata_of(b->sw, 5), packed, sizeof packed);
    sk_switch_port_up(b->sw, 5, true);
    expect_dump(b, "{\"op\":\"ports\"}",
                "\"metadata\":{\"rest\":\"0x5\",\"vrf\":\"291\",\"zone\":\"-2\"}");
    ask_refused(b, "{\"op\":\"port.metadata\",\"port\":5,\"metadata\":{\"vrf\":1,\"x\":2}}",
                "no field of the port metadata 'x'");
    ask_refused(b, "{\"op\":\"port.metadata\",\"port\":100,\"metadata\":{}}", "not a device port");
    ask_refused(b, "{\"op\":\"port.metadata\",\"port\":5,\"metadata\":[1]}",
                "metadata: it must be");
    ask_refused(b, "{\"op\":\"port.metadata\",\"port\":5}", "metadata: it is missing");
    ask_refused(b, "{\"op\":\"port.metadata\",\"port\":5,\"metadata\":\"0x10000000000000000\"}",
                "does not fit 64 bits");
    assert_memory_equal(sk_switch_port_metadata_of(b->sw, 5), packed, sizeof packed);
    json_decref(ask(b, "{\"op\":\"port.metadata\",\"port\":5,\"metadata\":255}"));
    assert_int_equal(sk_switch_port_metadata_of(b->sw, 5)[7], 255);
    json_decref(ask(b, "{\"op\":\"port.metadata\",\"port\":5,\"metadata\":{}}"));
    assert_int_equal(sk_switch_port_metadata_of(b->sw, 5)[7], 0);
}

// A range is all there or refused; what pipes have different is told.
static void test_ranges_and_pipes(void **state) {
    struct bench *b = *state;
    ask_refused(b, "{\"op\":\"counter.read\",\"name\":\"seen\",\"from\":500,\"count\":13}",
                "no index 512; there are 512");
    ask_refused(b, "{\"op\":\"register.read\",\"name\":\"pair\",\"from\":0,\"count\":100000}",
                "no index 99999; there are");
    json_decref(ask(b, "{\"op\":\"counter.read\",\"name\":\"seen\",\"from\":500,\"count\":12}"));
    json_decref(ask(b, "{\"op\":\"table.add\",\"table\":\"forward\",\"key\":{\"dst_addr\":1},"
                       "\"action\":\"send\",\"args\":{\"port\":1}}"));
    expect_dump(b, "{\"op\":\"table.dump\",\"table\":\"forward\"}", "\"differ\":[]");
    json_decref(ask(b, "{\"op\":\"table.modify\",\"table\":\"forward\",\"key\":{\"dst_addr\":1},"
                       "\"action\":\"send\",\"args\":{\"port\":2},\"pipe\":2}"));
    expect_dump(b, "{\"op\":\"table.dump\",\"table\":\"forward\"}", "\"differ\":[2]");
    expect_dump(b, "{\"op\":\"table.dump\",\"table\":\"forward\",\"pipe\":2}",
                "\"differ\":[0,1,3]");
    json_decref(ask(b, "{\"op\":\"table.clear\",\"table\":\"forward\",\"pipe\":2}"));
    json_decref(ask(b, "{\"op\":\"table.clear\",\"table\":\"forward\",\"pipe\":3}"));
    expect_dump(b, "{\"op\":\"table.dump\",\"table\":\"forward\"}", "\"differ\":[2,3]");
    json_decref(ask(b, "{\"op\":\"table.clear\",\"table\":\"forward\"}"));
    json_decref(ask(b, "{\"op\":\"table.default\",\"table\":\"forward\",\"action\":\"send\","
                       "\"args\":{\"port\":7},\"pipe\":1}"));
    expect_dump(b, "{\"op\":\"table.dump\",\"table\":\"forward\"}", "\"differ\":[1]");
    json_decref(ask(b, "{\"op\":\"table.clear\",\"table\":\"forward\"}"));
}

static void test_pages(void **state) {
    struct bench *b = *state;
    json_t *result = ask(b, "{\"op\":\"counter.read\",\"name\":\"seen\",\"count\":512}");
    assert_int_equal(json_array_size(json_object_get(result, "cells")), SK_PAGE);
    assert_null(json_object_get(result, "next"));
    json_decref(result);
    result = ask(b, "{\"op\":\"counter.read\",\"name\":\"seen\",\"count\":100}");
    assert_int_equal(json_integer_value(json_object_get(result, "next")), 100);
    json_decref(result);
}

static void test_others(void **state) {
    struct bench *b = *state;
    const uint8_t frame[60] = {2};
    sk_switch_rx(b->sw, 5, frame, 60, 0);
    sk_switch_run(b->sw, 0);
    expect_dump(b, "{\"op\":\"hello\"}", "\"program\":\"toy.p4\"");
    expect_dump(b, "{\"op\":\"objects\"}", "\"name\":\"pipe.IngressParser.types\"");
    expect_dump(b, "{\"op\":\"ports\"}", "\"drops\":{\"no destination set in ingress\":1}");
    expect_dump(b, "{\"op\":\"stats\"}", "\"rx_packets\":1");
    json_decref(ask(b, "{\"op\":\"pre.node.set\",\"id\":1,\"rid\":2,\"ports\":[3,130]}"));
    json_decref(ask(b, "{\"op\":\"pre.group.set\",\"id\":0,\"nodes\":[{\"node\":1,\"xid\":4}]}"));
    expect_dump(b, "{\"op\":\"pre\"}",
                "\"groups\":[{\"id\":0,\"nodes\":[{\"node\":1,\"xid\":4}]}],"
                "\"nodes\":[{\"id\":1,\"ports\":[3,130],\"rid\":2}]");
    ask_refused(b, "{\"op\":\"pre.node.delete\",\"id\":1}", "still has this node");
    json_decref(ask(b, "{\"op\":\"pre.group.delete\",\"id\":0}"));
    json_decref(ask(b, "{\"op\":\"pre.node.delete\",\"id\":1}"));
    ask_refused(b, "{\"op\":\"pre.group.delete\",\"id\":0}", "no such group");
    ask_refused(b, "{\"op\":\"job\"}", "no aggregation jobs");
}

static void test_refused(void **state) {
    struct bench *b = *state;
    ask_refused(b, "", "is not JSON");
    ask_refused(b, "{", "is not JSON");
    ask_refused(b, "[]", "must be a JSON object");
    ask_refused(b, "{}", "op: it is missing");
    ask_refused(b, "{\"op\":\"fly\"}", "there is no request 'fly'");
    ask_refused(b, "{\"op\":\"table.dump\"}", "table: it is missing");
    ask_refused(b, "{\"op\":\"table.dump\",\"table\":\"forward\",\"x\":1}", "x: unknown key");
    ask_refused(b, "{\"op\":\"table.add\",\"table\":\"forward\",\"action\":\"drop\"}",
                "'hdr.ethernet.dst_addr' is missing");
    ask_refused(b, "{\"op\":\"register.read\",\"name\":\"acl\"}", "no register 'acl'");
    ask_refused(b, "{\"op\":\"pre.node.set\",\"id\":1,\"ports\":[72]}", "not a device port");
    static const char *const without_members[] = {"hello", "objects", "ports",  "stats",  "pre",
                                                  "watch", "alarms",  "mirror", "queues", "pktgen"};
    for (size_t i = 0; i < sizeof without_members / sizeof *without_members; i++) {
        char text[64];
        snprintf(text, sizeof text, "{\"op\":\"%s\",\"x\":1}", without_members[i]);
        ask_refused(b, text, "x: unknown key");
    }
    // the request is all there is: a sentence about it needs no place
    ask_refused_with(b, "[]", "a request must be a JSON object");
    ask_refused_with(b, "{\"op\":\"counter.read\",\"name\":\"seen\",\"from\":512}",
                     "there is no index 512; there are 512");
    // and is a line, whatever it quotes
    ask_refused_with(b, "{\"op\":\"fly\\n\\u001b\"}",
                     "op: it contains the control character U+000A");
    ask_refused(b, "{\"op\":\"table.dump\",\"table\":\"a\\nb\"}",
                "it contains the control character U+000A");
    ask_refused_with(b, "{\"op\":\"a\\u0000\"}",
                     "the request is not JSON: a string has no zero byte (\\u0000)");
}

// ---- the socket ----

static void *serve(void *aux) {
    struct bench *b = aux;
    while (!b->stop) {
        sk_server_poll(b->server, &b->service);
        usleep(200);
    }
    return NULL;
}

static void start_server(struct bench *b) {
    struct sk_error err;
    b->server = sk_server_open(b->path, &err);
    if (!b->server)
        fail_msg("%s", err.text);
    b->stop = false;
    assert_int_equal(pthread_create(&b->thread, NULL, serve, b), 0);
}

static void stop_server(struct bench *b) {
    b->stop = true;
    pthread_join(b->thread, NULL);
    sk_server_close(b->server);
}

static void check_hello(struct sk_client *c) {
    struct sk_error err = {""};
    json_t *result = sk_client_call(c, json_pack("{s:s}", "op", "hello"), &err);
    if (!result)
        fail_msg("%s", err.text);
    assert_string_equal(json_string_value(json_object_get(result, "program")), "toy.p4");
    json_decref(result);
}

// Whoever looks is told whether there was something, a client or what it asked.
static void test_nothing_to_do(void **state) {
    struct bench *b = *state;
    struct sk_error err;
    b->server = sk_server_open(b->path, &err);
    assert_non_null(b->server);
    assert_false(sk_server_poll(b->server, &b->service));
    struct sk_client *c = sk_client_open(b->path, &err);
    assert_non_null(c);
    assert_true(sk_server_poll(b->server, &b->service));
    assert_false(sk_server_poll(b->server, &b->service)); // it asks nothing
    sk_client_close(c);
    assert_true(sk_server_poll(b->server, &b->service));
    assert_false(sk_server_poll(b->server, &b->service));
    sk_server_close(b->server);
}

static void test_clients(void **state) {
    struct bench *b = *state;
    struct sk_error err;
    assert_null(sk_client_open(b->path, &err));
    assert_non_null(strstr(err.text, "no switch listens"));
    start_server(b);
    struct stat st;
    assert_int_equal(stat(b->path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    struct sk_client *clients[SK_SOCKET_CLIENTS];
    for (unsigned i = 0; i < SK_SOCKET_CLIENTS; i++) {
        clients[i] = sk_client_open(b->path, &err);
        assert_non_null(clients[i]);
        check_hello(clients[i]);
    }
    check_hello(clients[0]); // the second is now the one that has asked nothing for longest
    struct sk_client *late = sk_client_open(b->path, &err);
    check_hello(late);
    assert_null(sk_client_call(clients[1], json_pack("{s:s}", "op", "hello"), &err));
    for (unsigned i = 0; i < SK_SOCKET_CLIENTS; i++) {
        if (i != 1)
            check_hello(clients[i]);
        sk_client_close(clients[i]);
    }
    assert_null(sk_client_call(late, json_pack("{s:s}", "op", "fly"), &err));
    assert_string_equal(err.text, "op: there is no request 'fly'");
    sk_client_close(late);
    assert_null(sk_server_open(b->path, &err));
    assert_non_null(strstr(err.text, "in use by another switch"));
    stop_server(b);
    assert_int_not_equal(stat(b->path, &st), 0);
}

static int raw_connection(struct bench *b) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, b->path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

// Those that want events are not idle, however long they have asked nothing; half a request is no
// request.
static void test_busy_clients(void **state) {
    struct bench *b = *state;
    struct sk_error err = {""};
    struct sk_client *listeners[SK_SOCKET_CLIENTS - 1];
    start_server(b);
    for (unsigned i = 0; i < SK_SOCKET_CLIENTS - 1; i++) {
        listeners[i] = sk_client_open(b->path, &err);
        json_decref(sk_client_call(listeners[i], json_pack("{s:s}", "op", "events"), &err));
    }
    int half = raw_connection(b);
    assert_int_equal(send(half, "{", 1, 0), 1);
    struct sk_client *late = NULL;
    for (unsigned tries = 0; !late && tries < 500; tries++) { // until it was read
        usleep(10000);
        late = sk_client_open(b->path, &err);
        json_t *hello = sk_client_call(late, json_pack("{s:s}", "op", "hello"), &err);
        if (!hello) {
            sk_client_close(late);
            late = NULL;
        }
        json_decref(hello);
    }
    assert_non_null(late);
    check_hello(late);
    char byte;
    assert_int_equal(recv(half, &byte, 1, 0), 0);
    close(half);
    json_decref(sk_client_call(late, json_pack("{s:s}", "op", "events"), &err));
    struct sk_client *refused = sk_client_open(b->path, &err);
    assert_null(sk_client_call(refused, json_pack("{s:s}", "op", "hello"), &err));
    sk_client_close(refused);
    check_hello(late);
    sk_client_close(late);
    for (unsigned i = 0; i < SK_SOCKET_CLIENTS - 1; i++) {
        check_hello(listeners[i]);
        sk_client_close(listeners[i]);
    }
    stop_server(b);
}

// A line of so many bytes, with blanks behind the request. Whether it is answered.
static bool is_answered(struct bench *b, size_t length) {
    static const char hello[] = "{\"op\":\"hello\"}";
    char *line = malloc(length + 1), reply[4096];
    int fd = raw_connection(b);
    memset(line, ' ', length);
    memcpy(line, hello, sizeof hello - 1);
    line[length] = '\n';
    for (size_t sent = 0; sent < length + 1;) {
        ssize_t n = send(fd, line + sent, length + 1 - sent, MSG_NOSIGNAL);
        if (n < 0)
            break;
        sent += (size_t)n;
    }
    bool answered = recv(fd, reply, sizeof reply, 0) > 0;
    close(fd);
    free(line);
    return answered;
}

static void test_long_requests(void **state) {
    struct bench *b = *state;
    start_server(b);
    assert_true(is_answered(b, SK_SOCKET_LINE));
    assert_false(is_answered(b, SK_SOCKET_LINE + 1));
    assert_false(is_answered(b, 300000));
    stop_server(b);
}

static void test_bad_clients(void **state) {
    struct bench *b = *state;
    struct sk_error err;
    start_server(b);
    // two requests at once, then the end of what it sends: both are answered
    int fd = raw_connection(b);
    static const char two[] = "{\"op\":\"stats\"}\n{\"op\":\"fly\"}\n";
    assert_int_equal(send(fd, two, sizeof two - 1, 0), sizeof two - 1);
    shutdown(fd, SHUT_WR);
    char text[4096] = "";
    size_t n = 0;
    for (ssize_t got; (got = recv(fd, text + n, sizeof text - 1 - n, 0)) > 0;)
        n += (size_t)got;
    assert_non_null(strstr(text, "rx_packets"));
    assert_non_null(strstr(text, "no request 'fly'"));
    close(fd);
    // a line without end: disconnected, and nobody else suffers
    fd = raw_connection(b);
    static char flood[1 << 16];
    memset(flood, 'x', sizeof flood);
    for (int i = 0; i < 64 && send(fd, flood, sizeof flood, MSG_NOSIGNAL) > 0; i++)
        ;
    assert_true(recv(fd, text, sizeof text, 0) <= 0);
    close(fd);
    // one that asks and never reads: the switch stops reading from it
    fd = raw_connection(b);
    static const char ask_much[] = "{\"op\":\"register.read\",\"name\":\"count\"}\n";
    for (int i = 0; i < 2000; i++)
        if (send(fd, ask_much, sizeof ask_much - 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
            usleep(100);
    struct sk_client *c = sk_client_open(b->path, &err);
    check_hello(c);
    sk_client_close(c);
    close(fd);
    stop_server(b);
}

static void test_stale_file(void **state) {
    struct bench *b = *state;
    struct sk_error err;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, b->path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    close(fd); // the file stays
    start_server(b);
    stop_server(b);
    FILE *f = fopen(b->path, "w"); // but what is not a socket is not touched
    fclose(f);
    assert_null(sk_server_open(b->path, &err));
    assert_non_null(strstr(err.text, "is not a socket"));
    unlink(b->path);
    assert_null(sk_server_open("/nowhere/at/all", &err));
    char long_path[200];
    memset(long_path, 'a', sizeof long_path);
    long_path[199] = 0;
    assert_null(sk_server_open(long_path, &err));
    assert_non_null(strstr(err.text, "characters"));
}

int main(void) {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_tables),
        T(test_registers_and_counters),
        T(test_pages),
        T(test_port_metadata),
        T(test_several_want_to_record),
        T(test_ranges_and_pipes),
        T(test_others),
        T(test_refused),
        T(test_nothing_to_do),
        T(test_clients),
        T(test_busy_clients),
        T(test_long_requests),
        T(test_bad_clients),
        T(test_stale_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
