# SPDX-License-Identifier: Apache-2.0
"""Which programs take notes for the flow cache: compiler/instrument/notes.c.

What counts is which of the architecture's values a program reads, not what a field is called. A program that takes
notes has calls of sk_note_* in its C text.
"""
import os
import subprocess
import sys
import tempfile

SILKEN = f"{os.environ.get('BUILD', 'build')}/silken"
TABLES = 8  # fewer are not worth notes
# fields of the user's whose names are, or end like, those of the architecture's values of the moment
ALIKE = ("ingress_mac_tstamp", "global_tstamp", "enq_tstamp", "deq_timedelta", "pkt_length", "app_pool_congest_stat",
         "my_pkt_length")

PROGRAM = """#include <core.p4>
#include <tna.p4>
header word_h { bit<48> ingress_mac_tstamp; bit<48> global_tstamp; bit<16> enq_tstamp; bit<16> deq_timedelta;
                bit<16> pkt_length; bit<16> app_pool_congest_stat; bit<16> my_pkt_length; bit<16> b; }
struct headers_t { word_h w; }
struct meta_t { bit<16> m; }
parser IP(packet_in p, out headers_t h, out meta_t m, out ingress_intrinsic_metadata_t i) {
    state start { p.extract(i); p.advance(PORT_METADATA_SIZE); p.extract(h.w); transition accept; }
}
control I(inout headers_t h, inout meta_t m, in ingress_intrinsic_metadata_t i,
          in ingress_intrinsic_metadata_from_parser_t f, inout ingress_intrinsic_metadata_for_deparser_t d,
          inout ingress_intrinsic_metadata_for_tm_t t) {
    OBJECTS
    action set(bit<16> v) { m.m = v; }
    TABLES
    apply { t.ucast_egress_port = 1; APPLIES if (INGRESS == 7) { d.drop_ctl = 1; } STATEMENT }
}
control ID(packet_out p, inout headers_t h, in meta_t m, in ingress_intrinsic_metadata_for_deparser_t d) {
    apply { p.emit(h); }
}
parser EP(packet_in p, out headers_t h, out meta_t m, out egress_intrinsic_metadata_t e) {
    state start { p.extract(e); p.extract(h.w); transition accept; }
}
control E(inout headers_t h, inout meta_t m, in egress_intrinsic_metadata_t e,
          in egress_intrinsic_metadata_from_parser_t f, inout egress_intrinsic_metadata_for_deparser_t d,
          inout egress_intrinsic_metadata_for_output_port_t o) {
    apply { if (EGRESS == 7) { d.drop_ctl = 1; } }
}
control ED(packet_out p, inout headers_t h, in meta_t m, in egress_intrinsic_metadata_for_deparser_t d) {
    apply { p.emit(h); }
}
Pipeline(IP(), I(), ID(), EP(), E(), ED()) pipe;
Switch(pipe) main;
"""


def takes_notes(folder, ingress="h.w.b", egress="h.w.b", objects="", statement=""):
    tables = "\n".join(f"table t{i} {{ key = {{ h.w.b : exact; }} actions = {{ set; NoAction; }} size = 16;"
                       " default_action = NoAction; }" for i in range(TABLES))
    text = PROGRAM.replace("INGRESS", ingress).replace("EGRESS", egress)
    text = text.replace("OBJECTS", objects).replace("STATEMENT", statement).replace("TABLES", tables)
    text = text.replace("APPLIES", "".join(f"t{i}.apply();" for i in range(TABLES)))
    path, out = os.path.join(folder, "p.p4"), os.path.join(folder, "p.c")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    if os.path.exists(out):
        os.remove(out)
    env = {**os.environ, "CC": "/bin/false", "SILKEN_CACHE": folder}
    result = subprocess.run([SILKEN, "build", "--emit-c", out, path], env=env, text=True, capture_output=True,
                            check=False, timeout=60)
    if not os.path.exists(out):
        raise RuntimeError(result.stderr)
    with open(out, encoding="utf-8") as f:
        return "sk_note_" in f.read()


def cases():
    """Triples: what it is, arguments of takes_notes, whether notes are taken."""
    yield "tables alone", {}, True
    for name in ALIKE:
        yield f"a user's {name}, in ingress", {"ingress": f"h.w.{name}"}, True
        yield f"a user's {name}, in egress", {"egress": f"h.w.{name}"}, True
    yield "the arrival", {"ingress": "i.ingress_mac_tstamp"}, False
    yield "the parser's time, in ingress", {"ingress": "f.global_tstamp"}, False
    yield "the parser's time, in egress", {"egress": "f.global_tstamp"}, False
    for name in ("enq_tstamp", "deq_timedelta", "pkt_length", "app_pool_congest_stat"):
        yield f"the architecture's {name}", {"egress": f"e.{name}"}, False
    yield "the port in", {"ingress": "i.ingress_port"}, True
    for name in ("egress_port", "enq_qdepth", "egress_qid", "egress_rid"):
        yield f"the architecture's {name}", {"egress": f"e.{name}"}, True
    yield "the parser's error", {"ingress": "f.parser_err"}, True
    yield "a register", {"objects": "Register<bit<16>, bit<8>>(8) r;", "statement": "m.m = r.read(1);"}, False
    yield "a counter", {"objects": "Counter<bit<32>, bit<8>>(8, CounterType_t.PACKETS) c;",
                        "statement": "c.count(1);"}, True


def main():
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for what, words, wanted in cases():
            taken = takes_notes(folder, **words)
            passed += taken == wanted
            failed += taken != wanted
            if taken != wanted:
                print(f"{what}: {'' if taken else 'no '}notes are taken")
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
