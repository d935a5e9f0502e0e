# SPDX-License-Identifier: Apache-2.0
"""fuzz_seeds.py FOLDER: seeds of fuzz_reply: a description of tables, and replies whose ids are those of its table."""
import json
import os
import sys


def field(number, content):
    """A field of protobuf: bytes, or a number."""
    if isinstance(content, int):
        return bytes([number << 3]) + varint(content)
    return bytes([number << 3 | 2]) + varint(len(content)) + content


def varint(value):
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def part(content):
    return len(content).to_bytes(2, "big") + content


def main():
    kind = {"type": "bytes", "width": 72}
    table = {"name": "pipe.t", "id": 9, "table_type": "MatchAction_Direct", "attributes": ["EntryScope"],
             "key": [{"id": 1, "name": "k", "match_type": "Exact", "type": kind},
                     {"id": 2, "name": "m", "match_type": "Ternary", "type": kind}],
             "action_specs": [{"id": 7, "name": "a", "data": [{"id": 1, "name": "p", "repeated": False, "type": kind}]}],
             "data": [{"singleton": {"id": 4, "name": "r", "type": kind, "annotations": [{"value": "register_data"}]}},
                      {"singleton": {"id": 5, "name": "l", "repeated": True, "type": {"type": "uint32"}}},
                      {"singleton": {"id": 6, "name": "c", "repeated": True, "container": [
                          {"singleton": {"id": 1, "name": "x", "type": {"type": "int32"}}}]}}]}
    number = b"\xff" * 9
    key = field(1, field(1, 1) + field(2, field(1, number))) + field(1, field(1, 2) + field(3, field(1, b"\1") + field(2, b"\xff")))
    data = field(1, 7) + b"".join(field(2, f) for f in (
        field(1, 1) + field(2, number), field(1, 4) + field(2, b"\1"), field(1, 4) + field(2, b"\2"),
        field(1, 5) + field(5, field(1, b"\1\2")), field(1, 6) + field(7, field(1, field(1, field(1, 1) + field(2, b"\xff\xff\xff\xff"))))))
    entry = field(1, field(1, field(1, 9) + field(2, key) + field(3, data)))
    default = field(1, field(1, field(1, 9) + field(3, field(1, 7)) + field(4, 1)))
    scope = field(1, field(3, field(1, 9) + field(3, field(2, field(1, 1)))))
    schema = part(json.dumps({"tables": [table]}).encode())
    for name, replies in (("alike", (b"", entry + default)), ("scoped", (scope, entry, default, b"", entry))):
        with open(os.path.join(sys.argv[1], "seed-" + name), "wb") as f:
            f.write(schema + b"".join(part(reply) for reply in replies))


if __name__ == "__main__":
    main()
