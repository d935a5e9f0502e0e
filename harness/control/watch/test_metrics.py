#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The metrics of a running switch: the text by a parser of this file's own, which takes what the description of
the exposition format 0.0.4 allows and nothing else; the numbers against those of the control socket; and what
the configuration may say of where they are."""
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", ".."), os.path.join(HERE, "..", "..", "pcap")]
import tally  # noqa: E402
from folder import FolderCase  # noqa: E402

SILKEN = os.path.abspath(os.environ.get("BUILD", "build") + "/silken")
L2 = os.path.abspath("p4/l2/l2.p4")
SWITCHML = os.path.abspath("p4/switchml/switchml.p4")

NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^\\"\n]|\\[\\"n])*)"')
VALUE = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?Inf|NaN")


def parse_sample(line):
    name = NAME.match(line)
    assert name, line
    rest, labels = line[name.end():], {}
    if rest.startswith("{"):
        rest = rest[1:]
        while not rest.startswith("}"):
            label = LABEL.match(rest)
            assert label, line
            assert label[1] not in labels, line
            labels[label[1]] = re.sub(r"\\(.)", lambda m: {"n": "\n"}.get(m[1], m[1]), label[2])
            rest = rest[label.end():]
            assert rest[0] in ",}", line
            rest = rest[rest[0] == ",":]
        rest = rest[1:]
    assert rest.startswith(" ") and VALUE.fullmatch(rest[1:]), line
    return name[0], labels, float(rest[1:])


def parse(text):
    """{name: (type, {labels as a sorted tuple: value})}; fails on anything that the format does not have."""
    assert text.endswith("\n") and "\r" not in text
    families, current, helped = {}, None, None
    for line in text[:-1].split("\n"):
        words = line.split(" ", 3)
        if words[:2] == ["#", "HELP"]:
            assert words[2] not in families and len(words) == 4, line  # once, and together
            assert not re.search(r"\\[^\\n]", words[3]), line
            helped, current = words[2], None
            continue
        if words[:2] == ["#", "TYPE"]:
            assert words[2] == helped, line
            assert words[3] in ("counter", "gauge", "histogram", "summary", "untyped"), line
            current = helped
            families[current] = (words[3], {})
            continue
        assert not line.startswith("#"), line
        name, labels, value = parse_sample(line)
        assert name == current, f"{line} is not under its TYPE"
        key = tuple(sorted(labels.items()))
        assert key not in families[name][1], f"{line} is listed twice"
        families[name][1][key] = value
    for name, (kind, samples) in families.items():  # conventions
        assert (kind == "counter") == name.endswith("_total"), name
        assert not re.search(r"_(ms|us|ns|kb|mb|bits|percent)(_|$)", name), name
        assert all(v >= 0 for v in samples.values()), name
    return families


class Metrics(FolderCase):
    def tearDown(self):
        if getattr(self, "switch", None):
            self.switch.kill()
            self.switch.wait()
            self.switch.stdout.close()
        super().tearDown()

    def config(self, **more):
        c = {"program": L2, "control_socket": self.path("s.sock"),
             "ports": [{"port": 0, "device": "net_null0,size=100", "name": 'a "b" \\ c d \u6f22'},
                       {"port": 1, "device": "net_null1,size=100"}],
             "entries": [{"table": "forward", "key": {"dst_addr": 0}, "action": "send",
                          "args": {"port": 1}}],
             "pools": [{"id": 2, "cells": 5000}],
             "queues": [{"port": 1, "speed": 100, "green": 1000, "pool": 2}],
             "metrics": {"listen": "127.0.0.1:0"}, **more}
        return self.file("c.json", json.dumps(c))

    def start(self, **more):
        self.switch = subprocess.Popen([SILKEN, "run", "-c", self.config(**more)], text=True,
                                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        said = ""
        for line in self.switch.stdout:
            said += line
            if line.startswith("metrics"):
                self.port = int(re.search(r"port ([0-9]+)", line)[1])
            if line == "ready\n":
                threading.Thread(target=self.switch.stdout.read, daemon=True).start()
                return
        self.fail(said)

    def refused(self, says, metrics):
        done = subprocess.run([SILKEN, "run", "-c", self.config(metrics=metrics)], text=True,
                              capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(says, done.stderr)

    def get(self, path="/metrics", method="GET"):
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        c.request(method, path)
        r = c.getresponse()
        body = r.read().decode()
        c.close()
        return r, body

    def ctl(self, *words):
        done = subprocess.run([SILKEN, "ctl", "-s", self.path("s.sock"), "--json", *words], text=True,
                              capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_format_and_numbers(self):
        self.start()
        time.sleep(0.3)
        before = self.ctl("stats")
        r, text = self.get()
        after = self.ctl("stats")
        self.assertEqual(r.status, 200)
        self.assertEqual(r.getheader("Content-Type"), "text/plain; version=0.0.4; charset=utf-8")
        m = parse(text)
        received = m["silken_receive_packets_total"][1][()]
        self.assertTrue(before["rx_packets"] <= received <= after["rx_packets"] and received > 1000)
        port = (("name", 'a "b" \\ c d \u6f22'), ("port", "0"))
        packets = m["silken_port_receive_packets_total"][1][port]
        self.assertGreater(packets, 0)
        self.assertEqual(m["silken_port_receive_bytes_total"][1][port], 100 * packets)
        self.assertEqual(m["silken_port_receive_packets_total"][0], "counter")
        # of one moment: nothing is missing
        of = {k: v[1] for k, v in m.items()}
        self.assertEqual(received + of["silken_copied_packets_total"][()] +
                         of["silken_generated_packets_total"][()],
                         of["silken_transmit_packets_total"][()] +
                         sum(of["silken_dropped_packets_total"].values()) +
                         of["silken_inside_packets"][()])
        self.assertEqual(sum(of["silken_port_dropped_packets_total"].values()),
                         sum(of["silken_dropped_packets_total"].values()))
        # port 1 sends 100 Mbit/s and gets much more: its queue is full, of 1000 cells of 80 bytes
        queue = of["silken_queue_bytes"][(("name", ""), ("port", "1"))]
        self.assertTrue(70000 < queue <= 82000, queue)
        self.assertNotIn((("name", port[0][1]), ("port", "0")), of["silken_queue_bytes"])
        # all that it drops is of queue 0, green; what waits there is the pool's
        drop = (("colour", "green"), ("name", ""), ("port", "1"), ("queue", "0"), ("reason", "egress queue full"))
        self.assertEqual(of["silken_queue_dropped_packets_total"],
                         {drop: of["silken_port_dropped_packets_total"][drop[1:3] + drop[4:]]})
        self.assertEqual(of["silken_pool_bytes"], {(("pool", "2"),): 400000})
        self.assertEqual(of["silken_pool_used_bytes"], {(("pool", "2"),): queue})
        table = (("pipe", "0"), ("table", "pipe.Ingress.forward"))
        self.assertEqual(of["silken_table_entries"][table], 1)
        self.assertGreater(of["silken_table_size_entries"][table], 1)
        self.assertGreaterEqual(of["silken_control_requests_total"][()], 1)
        self.assertGreater(of["silken_pauses_total"][()], 0)
        self.assertLess(abs(of["silken_start_time_seconds"][()] - time.time()), 60)
        pause = of["silken_scrape_pause_seconds"][()]
        print(f"the pipes waited {pause * 1e6:.0f} us; {len(text)} bytes of text")
        self.assertLess(pause, 0.05)

    def test_http(self):
        self.start()
        r, text = self.get(method="HEAD")
        self.assertEqual((r.status, text), (200, ""))
        self.assertGreater(int(r.getheader("Content-Length")), 1000)
        self.assertEqual(self.get("/")[0].status, 200)
        self.assertEqual(self.get("/metricss")[0].status, 404)
        self.assertEqual(self.get(method="POST")[0].status, 405)
        # clients that say nothing, or do not stop, do not keep others from being served
        quiet = [socket.create_connection(("127.0.0.1", self.port)) for _ in range(40)]
        for s in quiet[20:]:
            s.send(b"GET /metrics HTTP/1.1\r\nX: " + b"y" * 2000)
        parse(self.get()[1])
        for s in quiet:
            s.close()
        # one that asks without end makes the pipes wait ten times a second at most
        before = parse(self.get()[1])["silken_pauses_total"][1][()]
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        end, n = time.time() + 1, 0
        while time.time() < end:
            c.request("GET", "/metrics")
            c.getresponse().read()
            n += 1
        c.close()
        after = parse(self.get()[1])["silken_pauses_total"][1][()]
        self.assertGreater(n, 20)
        self.assertLess(after - before, 25)

    def test_jobs(self):
        worker = {"worker_bit": 1, "num_workers": 2, "group": 1, "rid": 1, "port": 1, "pool_base": 16,
                  "pool_last": 15}
        self.start(program=SWITCHML, queues=[], entries=[
            {"table": "workers", "action": "admit",
             "key": {"job_number": 7, "src_addr": "10.0.0.1", "ingress_port": 1}, "args": worker}])
        m = parse(self.get()[1])
        self.assertEqual(m["silken_job_workers"][1][(("job", "7"), ("kind", "switchml"))], 2)
        self.assertEqual(m["silken_job_waiting"][1][(("job", "7"), ("kind", "switchml"))], 0)
        self.assertEqual(m["silken_job_worker_packets_total"][1][(("job", "7"), ("kind", "switchml"), ("worker", "0"))], 0)
        self.assertEqual(m["silken_job_worker_wrong_checksums_total"],
                         ("counter", {(("job", "7"), ("kind", "switchml"), ("worker", "0")): 0}))
        self.assertEqual(m["silken_job_worker_idle_seconds"][1], {})

    def test_where(self):
        self.refused("'0.0.0.0:9464' is reachable from other machines", {"listen": "0.0.0.0:9464"})
        self.refused("'[::]:1' is reachable from other machines", {"listen": "[::]:1", "public": False})
        self.refused("'localhost:1' is not ADDRESS:PORT", {"listen": "localhost:1"})
        self.refused("metrics.port: unknown key", {"port": 1})
        self.refused("it must be true or false", {"public": 1})
        with socket.create_server(("127.0.0.1", 0)) as s:
            self.refused("cannot listen for metrics: Address already in use",
                         {"listen": "127.0.0.1:%d" % s.getsockname()[1]})
        self.start(metrics={"listen": "0.0.0.0:0", "public": True})
        self.assertEqual(self.get("/")[0].status, 200)

    def test_the_parser_itself(self):
        good = '# HELP a_total x\n# TYPE a_total counter\na_total{b="c\\\\\\"\\n"} 1\n'
        self.assertEqual(parse(good)["a_total"][1], {(("b", 'c\\"\n'),): 1.0})
        for bad in ('a_total 1\n', good + "a_total 2\nb 1\n", good[:-1], good + 'a_total{b="\\x"} 1\n',
                    good.replace("a_total", "a_ms_total"), good + good, good.replace("counter", "gauge"),
                    good + 'a_total{b="c\\\\\\"\\n"} 1\n', good + "a_total{b=c} 1\n", good + "a_total  1\n"):
            with self.assertRaises(AssertionError, msg=bad):
                parse(bad)


if __name__ == "__main__":
    tally.main()
