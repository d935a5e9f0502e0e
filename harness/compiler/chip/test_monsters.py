#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Programs of sizes that nobody writes by hand: `silken check` answers all of them, fit or not, within seconds.
The bound is on the processor time that the command itself takes, with much room: what these tests are to find
is work that grows with the square or the cube of a program."""
import json
import os
import resource
import subprocess
import sys

HERE = os.path.dirname(__file__)
sys.path[:0] = [os.path.join(HERE, "..", ".."), os.path.join(HERE, "..", "..", "pcap")]
import tally  # noqa: E402
from folder import FolderCase  # noqa: E402

SILKEN = os.environ.get("BUILD", "build") + "/silken"
SECONDS = 20  # of processor time; each takes one or two

PARSER = """
parser IngressParser(packet_in pkt, out headers_t hdr, out md_t md, out ingress_intrinsic_metadata_t intr) {
    state start {
        pkt.extract(intr);
        pkt.advance(PORT_METADATA_SIZE);
        %s
    }
    %s
}
"""
REST = """
control IngressDeparser(packet_out pkt, inout headers_t hdr, in md_t md,
                        in ingress_intrinsic_metadata_for_deparser_t dprsr) {
    apply {
        pkt.emit(hdr);
    }
}
struct none_t {}
parser EgressParser(packet_in pkt, out none_t hdr, out none_t md, out egress_intrinsic_metadata_t intr) {
    state start {
        pkt.extract(intr);
        transition accept;
    }
}
control Egress(inout none_t hdr, inout none_t md, in egress_intrinsic_metadata_t intr,
               in egress_intrinsic_metadata_from_parser_t prsr,
               inout egress_intrinsic_metadata_for_deparser_t dprsr,
               inout egress_intrinsic_metadata_for_output_port_t oport) {
    apply {}
}
control EgressDeparser(packet_out pkt, inout none_t hdr, in none_t md,
                       in egress_intrinsic_metadata_for_deparser_t dprsr) {
    apply {}
}
Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()) pipe;
Switch(pipe) main;
"""


def program(headers, fields, declarations, body, start="transition accept;", states=""):
    """Text of a program. 'fields': of the metadata; 'start': the end of the parser's first state."""
    return "\n".join([
        "#include <core.p4>", "#include <tna.p4>", headers,
        "struct md_t {", *(f"    {f};" for f in fields), "}", PARSER % (start, states),
        "control Ingress(inout headers_t hdr, inout md_t md, in ingress_intrinsic_metadata_t intr,",
        "                in ingress_intrinsic_metadata_from_parser_t prsr,",
        "                inout ingress_intrinsic_metadata_for_deparser_t dprsr,",
        "                inout ingress_intrinsic_metadata_for_tm_t tm) {",
        *declarations, "    apply {", *body, "    }", "}", REST])


HEADER = "header h_h { bit<32> a; bit<32> b; bit<32> c; bit<32> d; }\nstruct headers_t { h_h h; }"
START = "pkt.extract(hdr.h); transition accept;"


def table(n, key, writes):
    return (f"    action a{n}(bit<32> p) {{ {writes} = p; }}\n    table t{n} {{ key = {{ {key} : exact; }}\n"
            f"        actions = {{ a{n}; @defaultonly NoAction; }} const default_action = NoAction; size = 64; }}")


def independent_tables(n):
    return program(HEADER, [f"bit<32> f{i}" for i in range(n)],
                   [table(i, "hdr.h.a", f"md.f{i}") for i in range(n)],
                   [f"t{i}.apply();" for i in range(n)] +
                   [f"if (md.f{i} == 1) {{ hdr.h.b = {i}; }}" for i in range(n)],
                   START)


def chained_tables(n):
    return program(HEADER, ["bit<32> x", "bit<32> y"],
                   [table(i, "md.x" if i % 2 else "md.y", "md.y" if i % 2 else "md.x") for i in range(n)],
                   [f"t{i}.apply();" for i in range(n)] + ["hdr.h.b = md.x; hdr.h.c = md.y;"], START)


def exclusive_tables(n):
    """A ladder of conditions, as deep as the front end allows, over and over."""
    ladder, body = 40, []
    for i in range(0, n, ladder):
        body += [f"if (hdr.h.a == {j}) {{ t{j}.apply(); }} else " for j in range(i, i + ladder)] + ["{}"]
    return program(HEADER, [], [table(i, "hdr.h.b", "hdr.h.c") for i in range(n)], body, START)


def conditions(n):
    return program(HEADER, [], [], [f"if (hdr.h.a == {i}) {{ hdr.h.b = {i}; }}" for i in range(n)], START)


def long_actions(tables, statements):
    fields = [f"bit<16> f{i}" for i in range(statements)]
    header = f"header h_h {{ {'; '.join(fields)}; }}\nstruct headers_t {{ h_h h; }}"
    acts = []
    for t in range(tables):
        sets = " ".join(f"hdr.h.f{i} = hdr.h.f{(i * 7 + t + 1) % statements} + {i % 8};" for i in range(statements))
        acts += [f"    action a{t}() {{ {sets} }}",
                 f"    table t{t} {{ key = {{ hdr.h.f{t} : exact; }} actions = {{ a{t}; }} size = 16; }}"]
    return program(header, [], acts, [f"t{t}.apply();" for t in range(tables)], START)


def many_actions(n):
    acts = [f"    action a{i}() {{ hdr.h.a = {i}; hdr.h.b = hdr.h.c + {i % 8}; }}" for i in range(n)]
    one = "    table t { key = { hdr.h.d : exact; } actions = { " + " ".join(f"a{i};" for i in range(n)) + " } size = 64; }"
    return program(HEADER, [], [*acts, one], ["t.apply();"], START)


def parser_states(n):
    header = f"header h_h {{ bit<8> next; bit<8> v; }}\nstruct headers_t {{ {' '.join(f'h_h h{i};' for i in range(n))} }}"
    states = []
    for i in range(n):
        ways = "".join(f" {k} : s{i + k};" for k in range(1, 4) if i + k < n)
        states.append(f"state s{i} {{ pkt.extract(hdr.h{i}); transition select(hdr.h{i}.next) {{{ways} default : accept; }} }}")
    return program(header, [], [], ["hdr.h0.v = 1;"], "transition s0;", "\n    ".join(states))


def wide_header(n):
    fields = "; ".join(f"bit<{8 * (i % 4 + 1)}> f{i}" for i in range(n))
    header = f"header h_h {{ {fields}; }}\nstruct headers_t {{ h_h h; }}"
    return program(header, [], [], [f"hdr.h.f{i} = hdr.h.f{i} + 1;" for i in range(0, n, 4)], START)


def registers(n):
    declarations = []
    for i in range(n):
        declarations += [f"    Register<bit<32>, bit<8>>(256) r{i};",
                         f"    RegisterAction<bit<32>, bit<8>, bit<32>>(r{i}) ra{i} = {{",
                         "        void apply(inout bit<32> v, out bit<32> rv) { v = v + 1; rv = v; } };"]
    return program(HEADER, [f"bit<32> f{i}" for i in range(n)], declarations,
                   [f"md.f{i} = ra{i}.execute(hdr.h.a[7:0]);" for i in range(n)] +
                   [f"if (md.f{i} == {i}) {{ hdr.h.b = {i}; }}" for i in range(n)], START)


MONSTERS = {
    "2000_independent_tables": lambda: independent_tables(2000),
    "2000_chained_tables": lambda: chained_tables(2000),
    "2000_exclusive_tables": lambda: exclusive_tables(2000),
    "3000_conditions": lambda: conditions(3000),
    "actions_of_1000_statements": lambda: long_actions(10, 1000),
    "2000_actions": lambda: many_actions(2000),
    "500_parser_states": lambda: parser_states(500),
    "header_of_2000_fields": lambda: wide_header(2000),
    "500_registers": lambda: registers(500),
}


class Monsters(FolderCase):
    pass


def answered(text):
    def test(self):
        path = self.file("monster.p4", text())
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([SILKEN, "check", "--json", "--html", self.path("page.html"), path],
                              capture_output=True, text=True, timeout=20 * SECONDS)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assertIn(done.returncode, (0, 1), done.stderr[-2000:])
        document = json.loads(done.stdout)
        self.assertEqual(document["fits"], done.returncode == 0)
        taken = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        print(f"{taken:.1f} s, {len(document['violations'])} violations, {document['stages']} stages")
        self.assertLess(taken, SECONDS)
    return test


for name, text in MONSTERS.items():
    setattr(Monsters, "test_" + name, answered(text))

if __name__ == "__main__":
    tally.main()
