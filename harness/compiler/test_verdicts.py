# SPDX-License-Identifier: Apache-2.0
"""Do 'silken build', 'silken check' and the schemas refuse the same programs for the chip's sake?

At the edges of limits that more than one of them looks at, for both chips: just inside each accepts, one step beyond
each refuses. The numbers are in compiler/ir/target.c.
"""
import json
import os
import subprocess
import sys
import tempfile

SILKEN = f"{os.environ.get('BUILD', 'build')}/silken"
ARCHITECTURES = {1: "tna.p4", 2: "t2na.p4"}

PROGRAM = """#include <core.p4>
#include <@ARCHITECTURE@>
@TYPES@
struct headers_t { @FIELDS@ }
struct meta_t { @META@ }
parser IP(packet_in p, out headers_t h, out meta_t m, out ingress_intrinsic_metadata_t i) {
    state start { p.extract(i); p.advance(PORT_METADATA_SIZE); @STATES@ transition accept; }
}
control I(inout headers_t h, inout meta_t m, in ingress_intrinsic_metadata_t i,
          in ingress_intrinsic_metadata_from_parser_t f, inout ingress_intrinsic_metadata_for_deparser_t d,
          inout ingress_intrinsic_metadata_for_tm_t t) { apply { t.ucast_egress_port = 1; @APPLY@ } }
control ID(packet_out p, inout headers_t h, in meta_t m, in ingress_intrinsic_metadata_for_deparser_t d) {
    @LOCALS@
    apply { @DEPARSER@ p.emit(h); }
}
struct none_t { }
parser EP(packet_in p, out none_t h, out none_t m, out egress_intrinsic_metadata_t e) {
    state start { p.extract(e); transition accept; }
}
control E(inout none_t h, inout none_t m, in egress_intrinsic_metadata_t e,
          in egress_intrinsic_metadata_from_parser_t f, inout egress_intrinsic_metadata_for_deparser_t d,
          inout egress_intrinsic_metadata_for_output_port_t o) { apply { } }
control ED(packet_out p, inout none_t h, in none_t m, in egress_intrinsic_metadata_for_deparser_t d) { apply { } }
Pipeline(IP(), I(), ID(), EP(), E(), ED()) pipe;
Switch(pipe) main;
"""


def program(chip, **parts):
    text = PROGRAM.replace("@ARCHITECTURE@", ARCHITECTURES[chip])
    for name in ("TYPES", "FIELDS", "META", "STATES", "APPLY", "LOCALS", "DEPARSER"):
        text = text.replace(f"@{name}@", parts.get(name.lower(), ""))
    return text


def headers(chip, size):
    """Headers of 16 bytes, the last one of what is left."""
    sizes = [16] * (size // 16) + ([size % 16] if size % 16 else [])
    widths = sorted(set(sizes))
    return program(chip, types="".join(f"header h{n}_h {{ " + "".join(f"bit<8> f{i};" for i in range(n)) + " }\n"
                                       for n in widths),
                   fields="".join(f"h{n}_h x{i};" for i, n in enumerate(sizes)),
                   states="".join(f"p.extract(h.x{i});" for i in range(len(sizes))))


def data(size):
    """Fields of the metadata, 'size' bytes of them."""
    names = [f"x{i}" for i in range(size)]
    return {"types": "struct data_t { " + "".join(f"bit<8> {n};" for n in names) + " } "
                     "header data_h { " + "".join(f"bit<8> {n};" for n in names) + " }",
            "meta": "".join(f"bit<8> {n};" for n in names)}, ", ".join("m." + n for n in names)


def digest(chip, size):
    parts, values = data(size)
    return program(chip, locals="Digest<data_t>() g;", apply="d.digest_type = 1;",
                   deparser=f"if (d.digest_type == 1) {{ g.pack({{{values}}}); }}", **parts)


def resubmit(chip, size):
    parts, values = data(size)
    return program(chip, locals="Resubmit() r;", apply="d.resubmit_type = 1;",
                   deparser=f"if (d.resubmit_type == 1) {{ r.emit<data_h>({{{values}}}); }}", **parts)


def mirror(chip, size):
    parts, values = data(size)
    parts["meta"] += " MirrorId_t session;"
    return program(chip, locals="Mirror() r;", apply="d.mirror_type = 1; m.session = 1;",
                   deparser=f"if (d.mirror_type == 1) {{ r.emit<data_h>(m.session, {{{values}}}); }}", **parts)


# what, chip, program of a size, the last size that is accepted; a Tofino 2's headers: as many as Silken has room for
EDGES = [("headers", 1, headers, 480), ("headers", 2, headers, 608),
         ("resubmit data", 1, resubmit, 8), ("resubmit data", 2, resubmit, 16),
         ("a mirror header", 1, mirror, 32), ("a mirror header", 2, mirror, 32),
         ("a digest", 1, digest, 47), ("a digest", 2, digest, 47)]
# what only the whole chip says: containers, which limit the headers of a Tofino 2 before its deparser does
OF_THE_WHOLE = {"phv", "parser-depth"}


def run(words, folder):
    env = {**os.environ, "CC": "/bin/false", "SILKEN_CACHE": folder}
    return subprocess.run([SILKEN, *words], env=env, text=True, capture_output=True, check=False, timeout=120)


def verdicts(text, folder):
    """Whether each of the three accepts it, and all they said."""
    path, c, schema = (os.path.join(folder, n) for n in ("p.p4", "p.c", "p.json"))
    for old in (c, schema):
        if os.path.exists(old):
            os.remove(old)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    built = run(["build", "--emit-c", c, path], folder)
    described = run(["build", "--parse-only", "--bf-rt", schema, path], folder)
    checked = run(["check", "--json", path], folder)
    fits = checked.returncode == 0
    said = [built.stderr, described.stderr, checked.stderr]
    if checked.stdout:
        rules = [v["rule"] for v in json.loads(checked.stdout)["violations"]]
        said.append(" ".join(rules))
        fits = fits or (checked.returncode == 1 and all(r.startswith(tuple(OF_THE_WHOLE)) for r in rules))
    return [os.path.exists(c), described.returncode == 0, fits], said


def main():
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for what, chip, make, last in EDGES:
            for size, wanted in ((last, True), (last + 1, False), (last + 14, False)):
                found, said = verdicts(make(chip, size), folder)
                good = found == [wanted] * 3
                passed += good
                failed += not good
                if not good:
                    print(f"Tofino {chip}, {what} of {size} bytes: build, schema, check accept: {found}; "
                          f"expected {wanted}\n" + "\n".join(said))
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
