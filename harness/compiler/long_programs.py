# SPDX-License-Identifier: Apache-2.0
"""Long programs of every kind of declaration, statement and expression.

KINDS maps a name to a function of a size: it returns the text of a program with that many of the thing that the
name says. Each is a TNA program, though not each fits a chip, or is accepted. harness/compiler/test_bounds.py holds
the compiler's memory and time to its limits on them.

    python3 harness/compiler/long_programs.py            names the kinds
    python3 harness/compiler/long_programs.py KIND SIZE  prints a program
"""
import sys

KINDS = {}


def kind(function):
    KINDS[function.__name__] = function
    return function


def lines(n, text):
    """'text' n times, each '#' in it the number."""
    return "\n".join(text.replace("#", str(i)) for i in range(n))


def program(types="", fields="", metadata="", states="transition accept;", more_states="", locals_="", apply="",
            deparser_locals="", deparser="", parser_locals="", emits="", egress_locals="", egress=""):
    return f"""#include <core.p4>
#include <tna.p4>
header word_h {{ bit<32> a; bit<16> b; bit<8> c; bit<8> d; bit<64> e; }}
{types}
struct headers_t {{ word_h w; word_h x; {fields} }}
struct meta_t {{ bit<32> m; bit<16> n; bit<8> o; {metadata} }}
parser IP(packet_in p, out headers_t h, out meta_t m, out ingress_intrinsic_metadata_t i) {{
    {parser_locals}
    state start {{ p.extract(i); p.advance(PORT_METADATA_SIZE); p.extract(h.w); transition more; }}
    state more {{ {states} }}
    {more_states}
}}
control I(inout headers_t h, inout meta_t m, in ingress_intrinsic_metadata_t i,
          in ingress_intrinsic_metadata_from_parser_t f, inout ingress_intrinsic_metadata_for_deparser_t d,
          inout ingress_intrinsic_metadata_for_tm_t t) {{
    {locals_}
    apply {{
        t.ucast_egress_port = 1;
        {apply}
    }}
}}
control ID(packet_out p, inout headers_t h, in meta_t m, in ingress_intrinsic_metadata_for_deparser_t d) {{
    {deparser_locals}
    apply {{ {deparser} p.emit(h.w); p.emit(h.x); {emits} }}
}}
parser EP(packet_in p, out headers_t h, out meta_t m, out egress_intrinsic_metadata_t e) {{
    state start {{ p.extract(e); transition accept; }}
}}
control E(inout headers_t h, inout meta_t m, in egress_intrinsic_metadata_t e,
          in egress_intrinsic_metadata_from_parser_t f, inout egress_intrinsic_metadata_for_deparser_t d,
          inout egress_intrinsic_metadata_for_output_port_t o) {{
    {egress_locals}
    apply {{ {egress} }}
}}
control ED(packet_out p, inout headers_t h, in meta_t m, in egress_intrinsic_metadata_for_deparser_t d) {{
    apply {{ }}
}}
Pipeline(IP(), I(), ID(), EP(), E(), ED()) pipe;
Switch(pipe) main;
"""


# ---- statements of a control

@kind
def assignments(n):
    return program(apply=lines(n, "h.w.a = h.w.a + #; m.m = h.w.a ^ m.m;"))


@kind
def constants_and_counters(n):
    return program(metadata=lines(n, "bit<16> x#;"),
                   locals_=lines(n, "Counter<bit<32>, bit<8>>(8, CounterType_t.PACKETS) c#;"),
                   apply=lines(n, "m.x# = #;") + lines(n, "c#.count(h.w.c);"))


@kind
def slices(n):
    return program(apply=lines(n, "h.w.a[7:0] = h.w.b[8:1]; m.m[3:2] = h.w.c[5:4];"))


@kind
def ifs(n):
    return program(apply=lines(n, "if (h.w.b == #) { m.m = #; } else { m.n = m.n + 1; }"))


@kind
def ifs_in_a_row(n):
    return program(apply="if (h.w.b == 0) { m.m = 0; }" + lines(n, "else if (h.w.a == #) { m.m = #; }"))


@kind
def nested_ifs(n):
    return program(apply=lines(n, "if (h.w.a != #) { m.m = m.m + 1;") + "}" * n)


@kind
def tables_and_ifs(n):
    tables = lines(max(1, n // 20), """action a#(bit<16> v) { m.n = v; }
        table t# { key = { m.o : exact; } actions = { a#; NoAction; } default_action = NoAction;
                   const entries = { 1 : a#(1); 2 : a#(2); } size = 2; }""")
    return program(locals_=tables, apply="m.o = h.w.c;" + lines(max(1, n // 20), "t#.apply();") +
                   lines(n, "if (h.w.b == #) { m.m = #; } if (m.o == 3) { m.n = #; }"))


@kind
def decided_once(n):
    """Variables that decide the rest of the control, one after the other."""
    return program(metadata=lines(n, "bit<8> x#;"),
                   apply=lines(n, "m.x# = h.w.c + #;") +
                   lines(n, "if (m.x# == 1) { m.m = 1; } if (m.x# == 2) { m.n = 2; } if (m.x# == 3) { m.m = 3; }"))


@kind
def variables_and_ifs(n):
    return program(locals_=lines(n, "bit<8> x#;"), apply=lines(n, "x# = h.w.c + #;") +
                   lines(n, "if (x# == 1) { m.m = m.m + h.w.a; }"))


@kind
def switches(n):
    return program(apply=lines(n, "switch (h.w.b) { 1: { m.m = #; } 2: { m.n = #; } default: { m.o = 1; } }"))


@kind
def cases(n):
    return program(apply="switch (h.w.a) {" + lines(n, "#: { m.m = m.m + #; }") + "default: { } }")


@kind
def labels(n):
    return program(apply="switch (m.m) {" + lines(n, "32w#: { m.n = 1; }") + "}")


@kind
def misspelt(n):
    """Long names that are alike, and as many that are nearly one of them."""
    name = "abcdefghijklmnopqrstuvwxyzabcdefghijklmno"
    return program(locals_=lines(n, f"const bit<32> {name}p# = #;"), apply=lines(n, f"m.m = {name}#;"))


@kind
def wrong_members(n):
    name = "abcdefghijklmnopqrstuvwxyzabcdefghijklmno"
    return program(metadata=lines(n, f"bit<8> {name}p#;"), apply=lines(n, f"m.n = m.{name}#;"))


@kind
def blocks(n):
    return program(apply=lines(n, "{ bit<32> y = h.w.a; m.m = m.m + y; }"))


@kind
def returns(n):
    return program(locals_="", apply=lines(n, "if (h.w.a == #) { m.m = #; return; }"))


@kind
def exits(n):
    return program(apply=lines(n, "if (h.w.a == #) { m.m = #; exit; }"))


@kind
def validities(n):
    return program(apply=lines(n, "if (h.w.a == #) { h.x.setValid(); h.x.a = #; } else { h.x.setInvalid(); }"))


@kind
def copies_of_headers(n):
    return program(apply=lines(n, "h.x = h.w; h.w.a = h.x.a + #;"))


@kind
def actions_called(n):
    return program(locals_=lines(n, "action a#(bit<32> v) { m.m = m.m + v; m.n = #; }"),
                   apply=lines(n, "a#(h.w.a);"))


@kind
def tables(n):
    return program(locals_=lines(n, """action a#(bit<16> v) { m.n = v; }
        table t# { key = { h.w.a : exact; } actions = { a#; NoAction; } default_action = NoAction; size = 16; }"""),
                   apply=lines(n, "t#.apply();"))


@kind
def tables_of_one_register(n):
    """Accesses of one register in branches that exclude each other."""
    return program(locals_="""Register<bit<32>, bit<8>>(16) r;
        RegisterAction<bit<32>, bit<8>, bit<32>>(r) ra = { void apply(inout bit<32> v) { v = v + 1; } };""" +
                   lines(n, """action a#() { ra.execute(h.w.c); }
        table t# { key = { h.w.a : exact; } actions = { a#; NoAction; } default_action = NoAction; size = 16; }"""),
                   apply="if (h.w.b == 65535) { m.m = 1; }" + lines(n, "else if (h.w.b == #) { t#.apply(); }"))


@kind
def hits(n):
    return program(locals_=lines(n, """action a#(bit<16> v) { m.n = v; }
        table t# { key = { h.w.a : ternary; } actions = { a#; NoAction; } default_action = NoAction; size = 16; }"""),
                   apply=lines(n, "if (t#.apply().hit) { m.m = #; }"))


@kind
def actions_run(n):
    return program(locals_=lines(n, """action a#(bit<16> v) { m.n = v; } action b#() { m.n = 1; }
        table t# { key = { h.w.a : lpm; } actions = { a#; b#; NoAction; } default_action = NoAction; size = 16; }"""),
                   apply=lines(n, "switch (t#.apply().action_run) { a#: { m.m = #; } b#: { m.m = 1; } }"))


@kind
def keys(n):
    return program(locals_="table tt { key = {" + lines(n, "h.w.a[#:0] ++ m.m : exact @name(\"k#\");".replace(
        "[#:0]", "")) + "} actions = { NoAction; } default_action = NoAction; size = 16; }", apply="tt.apply();")


@kind
def entries(n):
    return program(locals_="""action a(bit<16> v) { m.n = v; }
        table tt { key = { h.w.a : exact; } actions = { a; } default_action = a(0);
                  const entries = {""" + lines(n, "# : a(#);").replace("a(65536", "a(0") +
                   f"}} size = {n}; }}", apply="tt.apply();")


@kind
def ternary_entries(n):
    return program(locals_="""action a(bit<32> v) { m.m = v; }
        table tt { key = { h.w.a : ternary; h.w.b : range; } actions = { a; } default_action = a(0);
                  const entries = {""" + lines(n, "(# &&& 0xffff, 1..7) : a(#);") +
                   f"}} size = {n}; }}", apply="tt.apply();")


@kind
def actions_of_a_table(n):
    return program(locals_=lines(n, "action a#(bit<16> v) { m.n = v; m.m = #; }") +
                   "table tt { key = { h.w.a : exact; } actions = {" + lines(n, "a#;") +
                   "NoAction; } default_action = NoAction; size = 16; }", apply="tt.apply();")


@kind
def parameters(n):
    return program(metadata=lines(n, "bit<8> x#;"),
                   locals_="action a(" + ", ".join(f"bit<8> p{i}" for i in range(n)) + ") {" +
                   lines(n, "m.x# = p#;") + "} table tt { key = { h.w.a : exact; } actions = { a; NoAction; } "
                   "default_action = NoAction; size = 16; }", apply="tt.apply();")


@kind
def registers(n):
    return program(locals_=lines(n, """Register<bit<32>, bit<8>>(16) r#;
        RegisterAction<bit<32>, bit<8>, bit<32>>(r#) ra# = {
            void apply(inout bit<32> v, out bit<32> o) { o = v; v = v + #; } };"""),
                   apply=lines(n, "m.m = ra#.execute(h.w.c);"))


@kind
def registers_read_and_written(n):
    return program(locals_=lines(n, "Register<bit<32>, bit<8>>(16) r#;"),
                   apply=lines(n, "m.m = r#.read(h.w.c); r#.write(h.w.c, m.m + #);"))


@kind
def register_accesses(n):
    """One register, accessed again and again: refused."""
    return program(locals_="""Register<bit<32>, bit<8>>(16) r;
        RegisterAction<bit<32>, bit<8>, bit<32>>(r) ra = {
            void apply(inout bit<32> v, out bit<32> o) { o = v; v = v + 1; } };""",
                   apply=lines(n, "m.m = ra.execute(h.w.c);"))


@kind
def register_actions(n):
    """Of one register, in branches."""
    return program(locals_="Register<bit<32>, bit<8>>(16) r;" + lines(n, """
        RegisterAction<bit<32>, bit<8>, bit<32>>(r) ra# = {
            void apply(inout bit<32> v, out bit<32> o) { o = v; v = v + #; } };"""),
                   apply="if (h.w.b == 65535) { m.m = 1; }" +
                   lines(n, "else if (h.w.b == #) { m.m = ra#.execute(h.w.c); }"))


@kind
def statements_of_a_register_action(n):
    return program(locals_="""Register<bit<32>, bit<8>>(16) r;
        RegisterAction<bit<32>, bit<8>, bit<32>>(r) ra = {
            void apply(inout bit<32> v, out bit<32> o) { o = v;""" + lines(n, "if (v == #) { v = v + h.w.a; }") +
                   "} };", apply="m.m = ra.execute(h.w.c);")


@kind
def meters(n):
    return program(locals_=lines(n, "Meter<bit<8>>(16, MeterType_t.BYTES) q#;"),
                   apply=lines(n, "m.o = q#.execute(h.w.c);"))


@kind
def counters_of_what_leaves(n):
    return program(egress_locals=lines(
        n, "@true_egress_accounting Counter<bit<32>, bit<8>>(8, CounterType_t.BYTES) c#;"),
                   egress=lines(n, "c#.count(2);"))


@kind
def hashes(n):
    return program(locals_=lines(n, "Hash<bit<32>>(HashAlgorithm_t.CRC32) q#;"),
                   apply=lines(n, "m.m = q#.get({h.w.a, h.w.b, m.m});"))


@kind
def randoms(n):
    return program(locals_=lines(n, "Random<bit<16>>() q#;"), apply=lines(n, "m.n = q#.get();"))


@kind
def functions(n):
    return program(types=lines(n, "bit<32> f#(in bit<32> v) { return v + #; }"), apply=lines(n, "m.m = f#(m.m);"))


def each_calls_the_one_before(n, value):
    return program(types="bit<32> f0(in bit<32> v) { return v; }\n" + "".join(
        f"bit<32> f{i}(in bit<32> v) {{ return {value.format(f'f{i - 1}(v)')}; }}\n" for i in range(1, n + 1)),
                   apply=f"m.m = f{n}(m.m);")


@kind
def functions_in_functions(n):
    return each_calls_the_one_before(n, "{0} + 1")


@kind
def calls_doubled(n):
    return each_calls_the_one_before(n, "{0} + {0}")


@kind
def controls(n):
    return program(types=lines(n, "control C#(inout bit<32> v) { apply { if (v == #) { v = 0; return; } v = v + 1; } }"),
                   locals_=lines(n, "C#() c#;"), apply=lines(n, "c#.apply(m.m);"))


@kind
def one_control_applied(n):
    return program(types="control C(inout bit<32> v) { apply { if (v == 7) { v = 0; } v = v + 1; } }",
                   locals_="C() c;", apply=lines(n, "c.apply(m.m);"))


@kind
def selectors(n):
    return program(locals_=lines(n, """Hash<bit<32>>(HashAlgorithm_t.CRC32) q#; ActionProfile(16) p#;
        ActionSelector(p#, q#, SelectorMode_t.FAIR, 8, 4) s#;
        action a#(bit<16> v) { m.n = v; }
        table t# { key = { h.w.a : exact; h.w.b : selector; } actions = { a#; NoAction; }
                   default_action = NoAction; size = 16; implementation = s#; }"""), apply=lines(n, "t#.apply();"))


@kind
def direct_counters(n):
    return program(locals_=lines(n, """DirectCounter<bit<32>>(CounterType_t.PACKETS) c#;
        action a#() { c#.count(); }
        action b#() { c#.count(); m.m = 1; }
        table t# { key = { h.w.a : exact; } actions = { a#; b#; } default_action = b#(); size = 16;
                   counters = c#; }"""), apply=lines(n, "t#.apply();"))


# ---- expressions

@kind
def sums(n):
    return program(apply="m.m = h.w.a" + lines(n, "+ h.w.a") + ";")


@kind
def nested_sums(n):
    return program(apply="m.m = " + "(h.w.a + " * n + "1" + ")" * n + ";")


@kind
def conditions(n):
    return program(apply="if (h.w.a == 1" + lines(n, "|| h.w.b == #") + ") { m.m = 1; }")


@kind
def choices(n):
    return program(apply="m.m = " + lines(n, "h.w.a == # ? h.w.a :") + "0;")


@kind
def doubled(n):
    """Each variable is the one before twice: an expression that is not shared is of 2^n terms."""
    return program(locals_="bit<32> x0;" + "".join(f"bit<32> x{i + 1};" for i in range(n)),
                   apply="x0 = h.w.a;" + "".join(f"x{i + 1} = (x{i} << 1) ^ x{i};" for i in range(n)) + f"m.m = x{n};")


@kind
def wide_values(n):
    return program(locals_="bit<2048> x; bit<2048> y;", apply="x = (bit<2048>)h.w.a; y = x;" +
                   lines(n, "x = (x << 3) ^ y; y = x + #;") + "m.m = x[31:0];")


@kind
def big_constants(n):
    return program(types="const int q0 = 3;" + "".join(f"const int q{i + 1} = q{i} * q{i};" for i in range(n)),
                   apply=f"m.m = (bit<32>)(q{n} & 0xff);")


@kind
def concatenations(n):
    return program(locals_="bit<32> x;", apply=lines(n, "x = h.w.c ++ h.w.d ++ h.w.b; m.m = m.m ^ x;"))


# ---- declarations

@kind
def enum_members(n):
    return program(types="enum bit<32> e_t {" + ", ".join(f"m{i} = {i}" for i in range(n)) +
                   "} header y_h { e_t f; }", fields="y_h y;",
                   states="p.extract(h.y); transition accept;", emits="p.emit(h.y);")


@kind
def fields_of_a_header(n):
    return program(types="header y_h {" + lines(n, "bit<8> f#;") + "}", fields="y_h y;",
                   states="p.extract(h.y); transition accept;", apply="h.y.f0 = h.y.f1;", emits="p.emit(h.y);")


@kind
def headers(n):
    return program(types="header y_h { bit<8> f; }", fields=lines(n, "y_h y#;"),
                   states=lines(n, "p.extract(h.y#);") + "transition accept;", emits=lines(n, "p.emit(h.y#);"))


@kind
def headers_kept(n):
    return program(types="header y_h { bit<8> f; }", fields=lines(n, "y_h y#;"),
                   apply=lines(n, "h.y#.setValid(); h.y#.f = #;"))


@kind
def header_types(n):
    return program(types=lines(n, "header y#_h { bit<8> f; bit<24> g; }"))


@kind
def stack(n):
    return program(types="header y_h { bit<8> f; }", fields=f"y_h[{max(1, n)}] y;",
                   states="p.extract(h.y.next); transition select(h.y.last.f) { 0: accept; default: more; }",
                   apply="h.y.push_front(1); h.y.pop_front(2);", emits="p.emit(h.y);")


@kind
def structs_in_structs(n):
    """Ten times as many fields for each."""
    return program(types="struct s0_t { bit<8> f; }" + "".join(
        f"struct s{i + 1}_t {{ " + "".join(f"s{i}_t f{k};" for k in range(10)) + "}" for i in range(n)),
        metadata=f"s{n}_t s;")


@kind
def tuples_in_tuples(n):
    return program(types="typedef bit<8> q0_t;" + "".join(
        f"typedef tuple<q{i}_t, q{i}_t, q{i}_t, q{i}_t, q{i}_t, q{i}_t> q{i + 1}_t;" for i in range(n)),
        locals_=f"q{n}_t x; q{n}_t y;", apply="x = y;")


@kind
def typedefs(n):
    return program(types="typedef bit<8> q0_t;" + "".join(f"typedef q{i}_t q{i + 1}_t;" for i in range(n)),
                   metadata=f"q{n}_t q;")


@kind
def constants(n):
    return program(types=lines(n, "const bit<32> Q# = #;"), apply="m.m = Q0;")


@kind
def annotations(n):
    return program(locals_=lines(n, "@q#(\"a b\", #) @name(\"x#\")") + "action a() { m.m = 1; }"
                   "table tt { actions = { a; } default_action = a(); size = 1; }", apply="tt.apply();")


@kind
def unused(n):
    """Warnings, if there is one for it."""
    return program(apply=lines(n, "m.o = (bit<8>)(h.w.c << 9); m.o = h.w.c[7:0] >> 9; if (h.w.c < 0) { m.o = 1; }"))


@kind
def errors(n):
    return program(apply=lines(n, "m.m = h.w.nothing; unknown# = 1;"))


@kind
def syntax_errors(n):
    return program(apply=lines(n, "m.m = = #; ) if ( {"))


@kind
def names_alike(n):
    """Two objects of one name, many times."""
    return program(locals_=lines(n, "@name(\"x\") Counter<bit<32>, bit<8>>(8, CounterType_t.PACKETS) c#;"),
                   apply=lines(n, "c#.count(h.w.c);"))


@kind
def long_name(n):
    name = "q" * n
    return program(locals_=f"bit<32> {name};", apply=f"{name} = 1; m.m = {name}; m.m = m.m + {name};")


@kind
def long_names(n):
    name = "q" * 2000
    return program(locals_=lines(n, f"bit<32> {name}#;"), apply=lines(n, f"{name}# = h.w.a; m.m = m.m + {name}#;"))


# ---- parsers

@kind
def states(n):
    return program(states="transition s0;", more_states="".join(
        f"state s{i} {{ m.n = m.n + 1; transition select(h.w.a) {{ {i}: accept; default: s{i + 1}; }} }}\n"
        for i in range(n)) + f"state s{n} {{ transition accept; }}")


@kind
def states_that_extract(n):
    return program(types="header y_h { bit<8> f; }", fields=lines(n, "y_h y#;"), states="transition s0;",
                   more_states="".join(
        f"state s{i} {{ p.extract(h.y{i}); transition select(h.y{i}.f) {{ 1: accept; 2: s{n}; default: s{i + 1}; }} }}\n"
        for i in range(n)) + f"state s{n} {{ transition accept; }}", emits=lines(n, "p.emit(h.y#);"))


@kind
def states_that_meet(n):
    """2^n ways through the parser."""
    return program(types="header y_h { bit<8> f; } header z_h { bit<16> f; }", fields=lines(n, "y_h y#; z_h z#;"),
                   states="transition s0;", more_states="".join(
        f"state s{i} {{ transition select(p.lookahead<bit<8>>()) {{ 1: a{i}; 2: b{i}; default: s{i + 1}; }} }}\n"
        f"state a{i} {{ p.extract(h.y{i}); transition s{i + 1}; }}\n"
        f"state b{i} {{ p.extract(h.z{i}); transition s{i + 1}; }}\n"
        for i in range(n)) + f"state s{n} {{ transition accept; }}", emits=lines(n, "p.emit(h.y#); p.emit(h.z#);"))


@kind
def select_cases(n):
    return program(states="transition select(h.w.a) {" + lines(n, "#: accept;") + "default: reject; }")


@kind
def select_keys(n):
    return program(states="transition select(" + ", ".join(["h.w.c"] * n) + ") { (" +
                   ", ".join(["1"] * n) + "): accept; default: reject; }")


@kind
def value_sets(n):
    return program(parser_locals=lines(n, "value_set<bit<8>>(8) v#;"), states="transition select(h.w.c) {" +
                   lines(n, "v#: accept;") + "default: reject; }")


@kind
def extracts_of_one(n):
    return program(states=lines(n, "p.extract(h.x);") + "transition accept;")


@kind
def advances(n):
    return program(states=lines(n, "p.advance(8);") + "transition accept;")


@kind
def checksums_verified(n):
    return program(parser_locals=lines(n, "Checksum() c#;"),
                   states=lines(n, "c#.add(h.w); if (c#.verify()) { m.n = #; }").replace(
        "if (c", "m.n = (bit<16>)(bit<1>)(c").replace(".verify()) { m.n = ", ".verify()); m.n = m.n + (").replace(
        "; }", ");") + "transition accept;")


@kind
def residuals(n):
    return program(parser_locals=lines(n, "Checksum() c#;"),
                   states=lines(n, "c#.subtract({h.w.b}); c#.subtract_all_and_deposit(m.n);") + "transition accept;")


@kind
def verifications(n):
    return program(states=lines(n, "verify(h.w.a != #, error.NoMatch);") + "transition accept;")


@kind
def parser_counters(n):
    return program(parser_locals="ParserCounter() q;",
                   states=lines(n, "q.set(h.w.c, 100, 0, 3, 1); q.decrement(1);") + "transition accept;")


# ---- deparsers

@kind
def checksums(n):
    return program(deparser_locals=lines(n, "Checksum() c#;"),
                   deparser=lines(n, "h.w.b = c#.update({h.w.a, h.w.c, h.w.d});"))


@kind
def checksum_of_many(n):
    return program(deparser_locals="Checksum() c;",
                   deparser="h.w.b = c.update({" + ", ".join(["h.w.a"] * n) + "});")


@kind
def mirrors(n):
    return program(deparser_locals="Mirror() r;", deparser=lines(
        n, "if (d.mirror_type == #) { r.emit<word_h>(1, {h.w.a, h.w.b, h.w.c, h.w.d, h.w.e}); }"))


@kind
def resubmits(n):
    return program(deparser_locals="Resubmit() r;", deparser=lines(n, "if (d.resubmit_type == #) { r.emit(); }"))


@kind
def digests(n):
    return program(types="struct dig_t { bit<32> a; bit<16> b; }", deparser_locals=lines(n, "Digest<dig_t>() g#;"),
                   deparser=lines(n, "if (d.digest_type == #) { g#.pack({h.w.a, h.w.b}); }"))


@kind
def many_pipes(n):
    text = program()
    before, end = text.split("Pipeline(IP()", 1)
    n = max(1, n)
    return before + lines(n, "Pipeline(IP(), I(), ID(), EP(), E(), ED()) pipe#;") + "Switch(pipe0) main;"


def main():
    if len(sys.argv) != 3:
        print("\n".join(KINDS))
        return 0 if len(sys.argv) == 1 else 2
    print(KINDS[sys.argv[1]](int(sys.argv[2])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
