# SPDX-License-Identifier: Apache-2.0
"""Wraps a v1model program into a TNA one, as text.

    wrap(path) -> the text, or raises Refused(reason)

The program's text stays as it is, but for what the two architectures call differently:

    #include "..."            of the program's own files: their text
    V1Switch(P, V, I, E, C, D) main
                              a pipeline around the six blocks. P is a subparser after the intrinsic headers. V's
                              checksums are verified in the parser, C's are updated in the deparser, which ends with D
    I, E                      both in ingress, one after the other, and the packet bypasses egress: nothing that a
                              v1model egress knows is then lost, headers and metadata included. A program that
                              replicates packets gets a real egress: its own metadata are carried in a header before
                              the packet, and P parses what D wrote
    exit                      ends I or E only, not what comes after them: the packet's port is set before it
    verify                    a select with the error's state: a Tofino's parser has no 'verify'
    register, counter, meter, hash, random
                              TNA's; a meter's colours keep their numbers
    optional                  a ternary key
    packets of any length     14 bytes, FRAME, stand before each packet and pass unseen: a port takes whole frames only
    names that TNA declares, too, get '_v1' behind them

script() does that to the program's packet script, whose statements mean the same in both otherwise. What cannot be
written for TNA is refused, with the reason.
"""
import collections
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
TNA = HERE.parents[2] / "p4/include"
COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|/\*.*?\*/|//[^\n]*', re.DOTALL)
DECLARED = re.compile(r"(?:^|[;}])\s*(?:@\w+(?:\([^)]*\))?\s*)*(?:(?:typedef|type|const)\s+[\w<>]+|header|struct"
                      r"|enum(?:\s+bit<\d+>)?|control|parser|package|extern(?:\s+[\w<>]+(?=\s+\w+\s*[<(]))?"
                      r"|header_union|action)\s+(\w+)", re.MULTILINE)
FRAME = "020000000001 020000000002 88b5"
TYPES = "([{<)]}>"
CSUM = "HashAlgorithm.csum16"
HASHES = {"crc16": "CRC16", "crc32": "CRC32", "identity": "IDENTITY", "random": "RANDOM", "xor16": "XOR16"}
REFUSED = (
    (r"\bclone(?:_preserving\w*|3)?\s*\(", "clones: a Tofino mirrors by sessions, with a header that the program lays "
     "out"),
    (r"\bresubmit(?:_preserving\w*)?\s*\(", "resubmits metadata: a Tofino resubmits up to 8 bytes before the packet"),
    (r"\brecirculate(?:_preserving\w*)?\s*\(", "recirculates metadata: a Tofino recirculates bytes"),
    (r"\bdigest\s*[<(]", "digests with a receiver: a Tofino's deparser sends them by type"),
    (r"\btruncate\s*\(", "truncates: a Tofino 1 cannot"),
    (r"\bdirect_(?:counter|meter)\b", "direct counters that count without a call: a Tofino's actions call them"),
    (r"\baction_(?:profile|selector)\s*\(", "action profiles without a selector's hash"),
    (r"\b(?:verify|update)_checksum_with_payload\b", "checksums over the payload: a Tofino's parser does not see it"),
    (r"\.\s*packet_length\b", "reads packet_length: a Tofino's ingress does not know it"),
)

QUEUED = re.compile(r"\.\s*(?:enq_timestamp|enq_qdepth|deq_timedelta|deq_qdepth|egress_global_timestamp)\b")

Block = collections.namedtuple("Block", "start name params body end")  # name to end, 'body': inside of the braces


class Refused(Exception):
    pass


def without_comments(text):
    def blank(m):
        return m[0] if m[0].startswith('"') else re.sub(r"[^\n]", " ", m[0])
    return COMMENT.sub(blank, text)


def inlined(path, above=()):
    """The text of a file with the program's own files in place of their '#include'."""
    if path in above:
        raise Refused(f"{path.name} includes itself")
    try:
        text = without_comments(path.read_text(errors="replace"))
    except OSError as e:
        raise Refused(f"{path.name}: {e.strerror}") from e

    def include(m):
        if m[1] in ("core.p4", "v1model.p4"):
            return f"#include <{m[1]}>"
        return inlined(path.parent / m[1], above + (path,))
    return re.sub(r'#\s*include\s*"([^"]+)"', include, text)


def closing(text, at):
    """Index behind the bracket that closes the one at 'at'."""
    pairs = {"(": ")", "{": "}", "[": "]"}
    wanted = []
    for i in range(at, len(text)):
        if text[i] in pairs:
            wanted.append(pairs[text[i]])
        elif text[i] in ")}]":
            if not wanted or wanted.pop() != text[i]:
                break
            if not wanted:
                return i + 1
    raise Refused("brackets do not match")


def split(text, brackets="([{)]}"):
    """Arguments: at the commas outside of brackets."""
    parts, depth, last = [], 0, 0
    half = len(brackets) // 2
    for i, c in enumerate(text):
        if c in brackets[:half]:
            depth += 1
        elif c in brackets[half:]:
            depth -= 1
        elif c == "," and depth == 0:
            parts.append(text[last:i].strip())
            last = i + 1
    rest = text[last:].strip()
    return parts + [rest] if rest else parts


def block(text, kind, name):
    """A parser, control or action with a body; None: there is none."""
    for m in re.finditer(rf"\b{kind}\s+{name}\s*(?:<[^(]*>\s*)?(?=\()", text):
        end = closing(text, m.end())
        # a control may have constructor parameters, too
        rest = re.match(r"\s*(\(.*?\))?\s*\{", text[end:], re.DOTALL)
        if rest:
            body = end + rest.end()
            return Block(m.start(), name, split(text[m.end() + 1:end - 1], TYPES), body, closing(text, body - 1))
    return None


def wanted(text, kind, name):
    found = block(text, kind, name)
    if not found:
        raise Refused(f"{kind} '{name}' is declared elsewhere")
    return found


def parameter(params, i):
    """(type, name)"""
    m = re.fullmatch(r"(?:@\w+(?:\([^)]*\))?\s*)*(?:(?:in|out|inout)\s+)?(.*?)\s*\b(\w+)", params[i], re.DOTALL)
    if not m:
        raise Refused(f"parameter '{params[i]}' is not a type and a name")
    return m[1], m[2]


def switch(text):
    """The names of the six blocks, and the text without the package."""
    m = re.search(r"\bV1Switch\s*(?:<[^(]*>)?\s*(?=\()", text)
    if not m:
        raise Refused("there is no V1Switch")
    end = closing(text, m.end())
    tail = re.match(r"\s*main\s*;", text[end:])
    if not tail:
        raise Refused("V1Switch is not 'main'")
    names = []
    for argument in split(text[m.end() + 1:end - 1], TYPES):
        argument = re.sub(r"^\w+\s*=\s*", "", argument)
        made = re.fullmatch(r"(\w+)\s*(?:<[^(]*>)?\s*\(\s*\)", argument)
        if not made:
            made = re.search(rf"\b(\w+)\s*\(\s*\)\s*{re.escape(argument)}\s*;", text)
        if not made:
            raise Refused(f"block '{argument}' is not made without arguments")
        names.append(made[1])
    if len(names) != 6:
        raise Refused(f"V1Switch has {len(names)} blocks")
    return names, text[:m.start()] + text[end + tail.end():]


def names_of_tna():
    names = set()
    for path in TNA.glob("tofino1_*.p4"):
        names |= set(DECLARED.findall(without_comments(path.read_text())))
    return names


def renamed(text):
    """Names that TNA declares, too; one that is a field as well keeps its name there."""
    for name in sorted(names_of_tna() & set(DECLARED.findall(text)) - {"PortId_t"}):
        text = re.sub(rf"(?<![\w.]){name}\b", name + "_v1", text)
    return re.sub(r"\btypedef\s+bit<9>\s+PortId_t\s*;", "", text)


def calls(text, name):
    """(start, end, arguments) of the calls of a function, the last first."""
    found = []
    for m in re.finditer(rf"(?<![\w.]){name}\s*(?:<[^(;]*>)?\s*(?=\()", text):
        end = closing(text, m.end())
        semicolon = re.match(r"\s*;", text[end:])
        if not semicolon:
            raise Refused(f"'{name}' is not called as a statement")
        found.append((m.start(), end + semicolon.end(), split(text[m.end() + 1:end - 1])))
    return reversed(found)


def around(text, at):
    """Where the body of the control that 'at' lies in begins."""
    for m in re.finditer(r"\bcontrol\s+(\w+)", text):
        b = block(text[m.start():], "control", m[1])
        if b and b.start == 0 and m.start() + b.body <= at < m.start() + b.end:
            return m.start() + b.body
    raise Refused("an extern is called outside of a control")


def number(text):
    """Of a literal, with a width or a cast; None: it is something else."""
    m = re.fullmatch(r"(?:\(bit<\d+>\)\s*)?(?:\d+w)?(0x[0-9a-fA-F]+|\d+)", text)
    return int(m[1], 0) if m else None


def hashes(text):
    n = 0
    for start, end, (result, algorithm, base, data, limit) in calls(text, "hash"):
        name = algorithm.split(".")[-1]
        if name not in HASHES:
            raise Refused(f"hash {name}: a Tofino's hash unit has no sums")
        size = number(limit)
        of = 16 if "16" in name else 32
        bits = size.bit_length() - 1 if size else None
        all_but_one = size == (1 << of) - 1  # modulo that, only one value changes
        if not size or bits == 0 or size != 1 << bits and not all_but_one:
            raise Refused("hash modulo a number that is not a power of 2: a Tofino has no division")
        if number(base) != 0:
            raise Refused("hash with a base: an addition after the hash")
        got = f"v1_hash_{n}.get({data})"
        cast = f"(bit<{result_width(text, result)}>)"
        statement = f"{result} = {cast}{got}[{bits - 1}:0];"
        if all_but_one:
            statement = f"{{ {result} = {cast}{got}; if ({result} == {size}) {result} = 0; }}"
        text = text[:start] + statement + text[end:]
        at = around(text, start)
        text = text[:at] + f"\n    Hash<bit<{of}>>(HashAlgorithm_t.{HASHES[name]}) v1_hash_{n};\n" + text[at:]
        n += 1
    return text


def randoms(text):
    n = 0
    for start, end, (result, low, high) in calls(text, "random"):
        bits = (number(high) or 0).bit_length()
        if number(low) != 0 or number(high) != (1 << bits) - 1 or bits == 0:
            raise Refused("a random number of a range: a Tofino's fill a whole number of bits")
        text = text[:start] + f"{result} = (bit<{result_width(text, result)}>)v1_random_{n}.get();" + text[end:]
        at = around(text, start)
        text = text[:at] + f"\n    Random<bit<{bits}>>() v1_random_{n};\n" + text[at:]
        n += 1
    return text


def result_width(text, name):
    """Of a field or variable that is declared as bit<N> and has one width wherever its name is declared."""
    last = re.split(r"[.\s]", name)[-1]
    found = set(re.findall(rf"\bbit<(\d+)>\s+{last}\b", text))
    if len(found) != 1:
        raise Refused(f"the width of '{name}' is not plain")
    return found.pop()


def externs(text):
    for pattern, reason in REFUSED:
        if re.search(pattern, text):
            raise Refused(reason)
    text = randoms(hashes(text))
    text = re.sub(r"(?<![\w.])register\s*<([^;(]*?)(?:,\s*bit<\d+>\s*)?>\s*\(", r"Register<\1, bit<32>>(", text)
    for name in re.findall(r"\bRegister<[^;]*?>\([^;]*?\)\s*(\w+)\s*;", text):
        for start, end, (result, index) in calls_of(text, name, "read"):
            text = text[:start] + f"{result} = {name}.read({index});" + text[end:]
    text = re.sub(r"(?<![\w.])meter\s*(?:<[^(;]*>)?\s*\(([^;]*?),\s*MeterType\.(\w+)\s*\)",
                  lambda m: f"Meter<bit<32>>({m[1]}, MeterType_t.{m[2].upper()}, 2, 1, 0)", text)
    for name in re.findall(r"\bMeter<bit<32>>\([^;]*?\)\s*(\w+)\s*;", text):
        for start, end, (index, result) in calls_of(text, name, "execute_meter"):
            cast = f"(bit<{result_width(text, result)}>)"
            text = text[:start] + f"{result} = {cast}{name}.execute({index});" + text[end:]
    text = re.sub(r"(?<![\w.])counter\s*(?:<[^(;]*>)?\s*\(", "Counter<bit<64>, bit<32>>(", text)
    text = re.sub(r"\bCounterType\.(\w+)", lambda m: "CounterType_t." + m[1].upper(), text)
    return re.sub(r":\s*optional\b", ": ternary", text)


def calls_of(text, thing, method):
    found = []
    for m in re.finditer(rf"(?<![\w.]){thing}\s*\.\s*{method}\s*(?=\()", text):
        end = closing(text, m.end())
        semicolon = re.match(r"\s*;", text[end:])
        if not semicolon:
            raise Refused(f"'{thing}.{method}' is not called as a statement")
        found.append((m.start(), end + semicolon.end(), split(text[m.end() + 1:end - 1])))
    return reversed(found)


def apply_of(text, b):
    """The statements in 'apply'."""
    m = re.search(r"\bapply\s*(?=\{)", text[b.body:b.end])
    if not m:
        raise Refused(f"control '{b.name}' has no apply")
    return text[b.body + m.end() + 1:closing(text, b.body + m.end()) - 1]


def has_work(text, b):
    return apply_of(text, b).strip() != ""


def only_calls(text, b, name):
    """[(condition, data, field)] of a control that does nothing but 'name'."""
    body = apply_of(text, b)
    found = []
    for start, end, arguments in calls(body, name):
        if len(arguments) != 4 or arguments[3].replace(" ", "") != CSUM:
            raise Refused(f"{name} with another algorithm than csum16: a Tofino's checksum units have that one")
        found.append(arguments[:3])
        body = body[:start] + body[end:]
    if body.strip():
        raise Refused(f"control '{b.name}' computes: a Tofino's parser and deparser cannot")
    return list(reversed(found))


def as_called(text, b, parameters):
    """An expression of block 'b' with the wrapper's names for its parameters."""
    for i, name in enumerate(parameters):
        text = re.sub(rf"(?<![\w.]){parameter(b.params, i)[1]}\b", name, text)
    return text


def moved_in(text, name):
    """Actions beside the controls that exit move into the control, whose parameters they then see."""
    for action in re.findall(r"\baction\s+(\w+)", text):
        a = block(text, "action", action)
        inside = any(b and b.body <= a.start < b.end for b in
                     (block(text, "control", c) for c in re.findall(r"\bcontrol\s+(\w+)", text)))
        if not inside and re.search(r"\bexit\s*;", text[a.body:a.end]):
            moved = text[a.start:a.end]
            text = text[:a.start] + text[a.end:]
            at = wanted(text, "control", name).body
            text = text[:at] + "\n" + moved + "\n" + text[at:]
    return text


def with_exits(text, name, before, extra):
    """'before' in front of each exit of a control, which gets parameters 'extra'."""
    b = wanted(text, "control", name)
    if not re.search(r"\bexit\s*;", text[b.body:b.end]):
        return text, False
    before = as_called_back(before, b)
    body = re.sub(r"\bexit\s*;", "{ " + before + " exit; }", text[b.body:b.end])
    head = text[b.start:b.body]
    at = closing(head, head.index("(")) - 1
    head = head[:at] + ", " + extra + head[at:]
    return text[:b.start] + head + body + text[b.end:], True


def as_called_back(text, b):
    return text.replace("SM", parameter(b.params, 2)[1])


def exits_elsewhere(text, allowed):
    for kind in ("control", "parser"):
        for name in re.findall(rf"\b{kind}\s+(\w+)", text):
            b = block(text, kind, name)
            if b and name not in allowed and re.search(r"\bexit\s*;", text[b.body:b.end]):
                return name
    return None


def plain_fields(text, name, path=""):
    """[(width, path)] of a struct of bits, or of structs of bits."""
    m = re.search(rf"\bstruct\s+{name}\s*\{{", text)
    if not m:
        raise Refused("replicates packets, with metadata that are not plain bits")
    out = []
    body = re.sub(r"@\w+(?:\([^)]*\))?", "", text[m.end():closing(text, m.end() - 1) - 1])
    for field in body.split(";")[:-1]:
        kind, field = field.split()
        field = path + field
        width = re.fullmatch(r"bit<(\d+)>", kind) or re.search(rf"\btypedef\s+bit<(\d+)>\s+{kind}\s*;", text)
        out += [(int(width[1]), field)] if width else plain_fields(text, kind, field + ".")
    return out


def wrap(path):
    text = renamed(inlined(pathlib.Path(path)))
    (p, v, i, e, c, d), text = switch(text)
    text = externs(text)
    blocks = {n: wanted(text, k, n) for k, n in (("parser", p), ("control", v), ("control", i), ("control", e),
                                                 ("control", c), ("control", d))}
    headers = parameter(blocks[p].params, 1)[0]
    meta = parameter(blocks[p].params, 2)[0]
    verified = only_calls(text, blocks[v], "verify_checksum")
    verified = [[as_called(x, blocks[v], ("hdr", "md.user")) for x in call] for call in verified]
    updated = only_calls(text, blocks[c], "update_checksum")
    updated = [[as_called(x, blocks[c], ("hdr", "md.user")) for x in call] for call in updated]
    egress = has_work(text, blocks[e])
    if QUEUED.search(text[blocks[e].body:blocks[e].end]):
        raise Refused("an egress that reads what a queue says, in other units than a Tofino's")
    replicates = bool(re.search(r"\.\s*mcast_grp\s*=[^=]", text))
    for n in (v, c):
        b = wanted(text, "control", n)
        text = text[:b.start] + text[b.end:]
    text = moved_in(verifies(text, p), i)
    names = dict(P=p, I=i, E=e, D=d, H=headers, M=meta)
    dprsr = "inout ingress_intrinsic_metadata_for_deparser_t v1_dprsr"
    tm = "inout ingress_intrinsic_metadata_for_tm_t v1_tm"
    text, exits = with_exits(text, i, "v1_leave(SM, v1_dprsr, v1_tm);", f"{dprsr}, {tm}")
    if not egress:
        leaves = False
    elif replicates or exits:
        replicates = True
        text, leaves = with_exits(text, e, "if (SM.egress_spec == V1_DROP) v1_dprsr.drop_ctl = 1;",
                                  "inout egress_intrinsic_metadata_for_deparser_t v1_dprsr")
    else:
        text, leaves = with_exits(text, e, "if (SM.egress_spec == V1_DROP) v1_dprsr.drop_ctl = 1;", dprsr)
    elsewhere = exits_elsewhere(text, (i, e))
    if elsewhere:
        raise Refused(f"'{elsewhere}' exits: its caller's port would not be set")
    names["exits"] = ", dprsr, tm" if exits else ""
    names["leaves"] = ", dprsr" if leaves else ""
    fields = plain_fields(text, meta) if replicates and egress else []
    return text + "\n" + pipeline(names, verified, updated, egress, replicates, fields)


def verifies(text, name):
    """The parser's 'verify's as transitions; what is declared before one in a state is not seen after it."""
    b = wanted(text, "parser", name)
    sm = parameter(b.params, 3)[1]
    n = 0
    while True:
        b = wanted(text, "parser", name)
        found = next((c for c in calls_in(text, b, "verify")), None)
        if not found:
            return text
        start, end, (condition, wrong) = found
        fork = f"""transition select({condition}) {{ true: v1_verified_{n}; default: v1_failed_{n}; }}
    }}
    state v1_failed_{n} {{
        {sm}.parser_error = {wrong};
        transition accept;
    }}
    state v1_verified_{n} {{"""
        text = text[:start] + fork + text[end:]
        n += 1


def calls_in(text, b, name):
    found = [c for c in calls(text, name) if b.body <= c[0] < b.end]
    return reversed(found)


def verify_states(verified):
    """Declarations and states behind the program's parser."""
    declared = "".join(f"    Checksum() v1_verify_{n};\n" for n in range(len(verified)))
    out = ""
    for n, (condition, data, field) in enumerate(verified):
        after = f"v1_verify_state_{n + 1}" if n + 1 < len(verified) else "accept"
        out += f"""    state v1_verify_state_{n} {{
        transition select({condition}) {{
            true: v1_checked_{n};
            false: {after};
        }}
    }}
    state v1_checked_{n} {{
        v1_verify_{n}.add({data});
        v1_verify_{n}.add({{ {field} }});
        md.sm.checksum_error = md.sm.checksum_error | (bit<1>)v1_verify_{n}.verify();
        transition {after};
    }}
"""
    return declared, out


def deparser(names, updated, before):
    declared = "".join(f"    Checksum() v1_update_{n};\n" for n in range(len(updated)))
    updates = "".join(f"        if ({condition})\n            {field} = v1_update_{n}.update({data});\n"
                      for n, (condition, data, field) in enumerate(updated))
    return f"""{declared}    {names['D']}() v1_deparser;
    apply {{
{updates}{before}        pkt.emit(md.frame);
        v1_deparser.apply(pkt, hdr);
    }}
"""


def script(text):
    """The packet script of a program that is wrapped."""
    return re.sub(r"(?im)^(\s*(?:packet|expect)\s+\S+[ \t]+)(?=[0-9a-fx*])", rf"\g<1>{FRAME} ", text)


def pipeline(n, verified, updated, egress, replicates, fields):
    declared, states = verify_states(verified)
    after_parser = "v1_verify_state_0" if verified else "accept"
    in_ingress = egress and not replicates
    work = f"""        if (md.sm.egress_spec != V1_DROP) {{
            md.sm.egress_port = md.sm.egress_spec;
            md.sm.egress_spec = 0;
            v1_egress.apply(hdr, md.user, md.sm{n['leaves']});
            if (md.sm.egress_spec == V1_DROP)
                dprsr.drop_ctl = 1;
        }}
""" if in_ingress else ""
    real = egress and replicates
    bridged = f"""header v1_bridge_t {{
    bit<7> pad;
    bit<9> ingress_port;
    bit<32> instance_type;
    bit<1> checksum_error;
    bit<7> more;
    bit<16> mcast_grp;
{''.join(f'    bit<{w}> user_{i};{chr(10)}' for i, (w, _) in enumerate(fields))}    bit<{-sum(w for w, _ in fields) % 8 or 8}> end;
}}
""" if real else ""
    fill = ("""        v1_bridge_t bridge = { 0, md.sm.ingress_port, md.sm.instance_type, md.sm.checksum_error, 0,
                                 md.sm.mcast_grp, """ +
            "".join(f"md.user.{f}, " for _, f in fields) + "0 };\n        pkt.emit(bridge);\n") if real else ""
    ingress = f"""
{bridged}@pa_auto_init_metadata
struct v1_metadata_t {{
    v1_frame_t frame;
    {n['M']} user;
    standard_metadata_t sm;
}}

struct v1_empty_t {{}}

parser V1IngressParser(packet_in pkt, out {n['H']} hdr, out v1_metadata_t md, out ingress_intrinsic_metadata_t ig) {{
    @name("{n['P']}") {n['P']}() v1_parser;
{declared}    state start {{
        pkt.extract(ig);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(md.frame);
        md.sm.ingress_port = ig.ingress_port;
        md.sm.ingress_global_timestamp = ig.ingress_mac_tstamp;
        v1_parser.apply(pkt, hdr, md.user, md.sm);
        transition {after_parser};
    }}
{states}}}

control V1Ingress(inout {n['H']} hdr, inout v1_metadata_t md, in ingress_intrinsic_metadata_t ig,
                  in ingress_intrinsic_metadata_from_parser_t prsr,
                  inout ingress_intrinsic_metadata_for_deparser_t dprsr,
                  inout ingress_intrinsic_metadata_for_tm_t tm) {{
    @name("{n['I']}") {n['I']}() v1_ingress;
{f'    @name("{n["E"]}") {n["E"]}() v1_egress;' + chr(10) if in_ingress else ''}    apply {{
        v1_parser_error(prsr.parser_err, md.sm);
{'' if real else '        tm.bypass_egress = 1;' + chr(10)}        v1_ingress.apply(hdr, md.user, md.sm{n['exits']});
        v1_leave(md.sm, dprsr, tm);
{work}    }}
}}

control V1IngressDeparser(packet_out pkt, inout {n['H']} hdr, in v1_metadata_t md) {{
{deparser(n, [] if real else updated, fill)}}}
"""
    return ingress + (real_egress(n, updated, fields) if real else no_egress()) + """
Pipeline(V1IngressParser(), V1Ingress(), V1IngressDeparser(), V1EgressParser(), V1Egress(), V1EgressDeparser()) pipe;
Switch(pipe) main;
"""


def no_egress():
    return """
parser V1EgressParser(packet_in pkt, out v1_empty_t hdr, out v1_empty_t md, out egress_intrinsic_metadata_t eg) {
    state start {
        pkt.extract(eg);
        transition accept;
    }
}

control V1Egress(inout v1_empty_t hdr, inout v1_empty_t md, in egress_intrinsic_metadata_t eg,
                 in egress_intrinsic_metadata_from_parser_t prsr,
                 inout egress_intrinsic_metadata_for_deparser_t dprsr,
                 inout egress_intrinsic_metadata_for_output_port_t oport) {
    apply {}
}

control V1EgressDeparser(packet_out pkt, inout v1_empty_t hdr, in v1_empty_t md) {
    apply {}
}
"""


def real_egress(n, updated, fields):
    users = "".join(f"        md.user.{f} = bridge.user_{i};\n" for i, (_, f) in enumerate(fields))
    return f"""
parser V1EgressParser(packet_in pkt, out {n['H']} hdr, out v1_metadata_t md, out egress_intrinsic_metadata_t eg) {{
    {n['P']}() v1_parser;
    v1_bridge_t bridge;
    state start {{
        pkt.extract(eg);
        pkt.extract(bridge);
        pkt.extract(md.frame);
        v1_parser.apply(pkt, hdr, md.user, md.sm);
        md.sm.ingress_port = bridge.ingress_port;
        md.sm.instance_type = bridge.instance_type;
        md.sm.checksum_error = bridge.checksum_error;
        md.sm.mcast_grp = bridge.mcast_grp;
        md.sm.egress_port = eg.egress_port;
        md.sm.egress_rid = eg.egress_rid;
{users}        transition accept;
    }}
}}

control V1Egress(inout {n['H']} hdr, inout v1_metadata_t md, in egress_intrinsic_metadata_t eg,
                 in egress_intrinsic_metadata_from_parser_t prsr,
                 inout egress_intrinsic_metadata_for_deparser_t dprsr,
                 inout egress_intrinsic_metadata_for_output_port_t oport) {{
    @name("{n['E']}") {n['E']}() v1_egress;
    apply {{
        md.sm.egress_spec = 0;
        if (md.sm.mcast_grp != 0)
            md.sm.instance_type = V1_REPLICATION;
        v1_egress.apply(hdr, md.user, md.sm{n['leaves']});
        if (md.sm.egress_spec == V1_DROP)
            dprsr.drop_ctl = 1;
    }}
}}

control V1EgressDeparser(packet_out pkt, inout {n['H']} hdr, in v1_metadata_t md) {{
{deparser(n, updated, '')}}}
"""
