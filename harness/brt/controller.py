# SPDX-License-Identifier: Apache-2.0
"""controller: a BF Runtime client for tests: generic gRPC calls with messages generated from brt/bfruntime.proto, and
ids taken by name from the description that the switch sends.

    with Controller("127.0.0.1:50052", client=1) as c:      # subscribes
        c.bind("l2")
        c.write(c.update("INSERT", "forward", {"hdr.ethernet.dst_addr": 1}, "Ingress.send", {"port": 2}))
        c.read(c.entry("forward"))
"""
import json
import os
import queue
import sys

import grpc

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from stubs import failures, generated  # noqa: E402

pb, status_pb = generated("brt/bfruntime.proto", "brt/status.proto")
Failed, call = failures(status_pb, "type.googleapis.com/bfrt_proto.Error", pb.Error)

SERVICE = "/bfrt_proto.BfRuntime/"
ALL_PIPES = 0xffff
WIDTHS = {"uint8": 8, "uint16": 16, "uint32": 32, "uint64": 64, "int32": 32}


class Expect:
    """Calls that fail as they should."""

    def __init__(self, checks):
        self.checks = checks

    def fails(self, what, code, function, *args, codes=None, **kwargs):
        """The sentence of a call that fails with this status; 'codes' are those of its updates."""
        try:
            function(*args, **kwargs)
        except Failed as e:
            self.checks.equal(what, (e.code, e.codes() if codes is not None else None), (code, codes))
            return e.errors[-1].message if e.errors else e.sentence
        self.checks.equal(what, "OK", code)
        return ""

    def update_fails(self, what, status, c, *updates, **more):
        return self.fails(what, "UNKNOWN", c.write, *updates, codes=[status], **more)


def serialized(message):
    """Garbage is given as bytes."""
    return message if isinstance(message, bytes) else message.SerializeToString()


def as_bytes(value, kind):
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode()
    width = kind.get("width") or WIDTHS[kind["type"]]
    return value.to_bytes((width + 7) // 8, "big")


class Controller:
    def __init__(self, address, client=1, subscribe=True, **notifications):
        self.channel = grpc.insecure_channel(address, options=[("grpc.max_receive_message_length", 1 << 30)])
        self.client = client
        self.requests, self.responses = queue.Queue(), None
        self.method = {}
        for name, reply in (("Write", pb.WriteResponse),
                            ("SetForwardingPipelineConfig", pb.SetForwardingPipelineConfigResponse),
                            ("GetForwardingPipelineConfig", pb.GetForwardingPipelineConfigResponse)):
            self.method[name] = self.channel.unary_unary(SERVICE + name, serialized, reply.FromString)
        self.method["Read"] = self.channel.unary_stream(SERVICE + "Read", serialized, pb.ReadResponse.FromString)
        self.tables, self.learn, self.p4_name = {}, {}, ""
        if subscribe:
            self.subscribe(**notifications)
        self.describe()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.requests.put(None)
        self.channel.close()

    # ---- the stream and programs ----
    def subscribe(self, **notifications):
        stream = self.channel.stream_stream(SERVICE + "StreamChannel", pb.StreamMessageRequest.SerializeToString,
                                            pb.StreamMessageResponse.FromString)
        self.responses = stream(iter(self.requests.get, None))
        request = pb.StreamMessageRequest(client_id=self.client)
        request.subscribe.SetInParent()
        for name, value in notifications.items():
            setattr(request.subscribe.notifications, f"enable_{name}_notifications", value)
        self.requests.put(request)
        try:
            return next(self.responses)
        except grpc.RpcError as e:
            raise Failed(e) from None

    def describe(self):
        config = call(self.method["GetForwardingPipelineConfig"],
                      pb.GetForwardingPipelineConfigRequest(client_id=self.client))
        self.config = config
        for info in (config.config[0].bfruntime_info, config.non_p4_config.bfruntime_info):
            schema = json.loads(info)
            for table in schema["tables"]:
                self.tables[table["name"]] = table
            for filters in schema.get("learn_filters", []):
                self.learn[filters["name"]] = filters
        self.p4_name = config.config[0].p4_name

    def bind(self, name=None, **fields):
        request = pb.SetForwardingPipelineConfigRequest(client_id=self.client, **fields)
        request.config.add().p4_name = self.p4_name if name is None else name
        return call(self.method["SetForwardingPipelineConfig"], request)

    # ---- names to ids ----
    def table(self, name):
        found = [t for n, t in self.tables.items() if n == name or n.endswith("." + name)]
        assert len(found) == 1, (name, [t["name"] for t in found])
        return found[0]

    @staticmethod
    def action(table, name):
        return next(a for a in table["action_specs"] if a["name"] == name or a["name"].endswith("." + name))

    @staticmethod
    def data_fields(table, action):
        fields = dict((f["name"], f) for f in (d.get("singleton", d) for d in (action["data"] if action else [])))
        for item in table["data"]:
            for field in [item["singleton"]] if "singleton" in item else item["oneof"]:
                fields.setdefault(field["name"], field)
        return fields

    # ---- messages ----
    def key(self, table, values, message):
        fields = {f["name"]: f for f in table["key"]}
        for name, value in values.items():
            field = fields[name]
            k = message.fields.add(field_id=field["id"])
            kind, match = field["type"], field["match_type"]
            if match == "Exact":
                k.exact.value = as_bytes(value, kind)
            elif match == "Ternary":
                k.ternary.value, k.ternary.mask = as_bytes(value[0], kind), as_bytes(value[1], kind)
            elif match == "LPM":
                k.lpm.value, k.lpm.prefix_len = as_bytes(value[0], kind), value[1]
            else:
                k.range.low, k.range.high = as_bytes(value[0], kind), as_bytes(value[1], kind)

    @staticmethod
    def containers(field, values):
        """Bytes of a list of dicts, or bytes as they are."""
        if isinstance(values, bytes):
            return values
        members = {m["singleton"]["name"]: m["singleton"] for m in field["container"]}
        array = pb.ContainerArray()
        for value in values:
            container = array.container.add()
            for name, number in value.items():
                member = container.val.add(field_id=members[name]["id"])
                if number is not None:
                    member.stream = as_bytes(number, members[name]["type"])
        return array.SerializeToString()

    @staticmethod
    def from_containers(field, octets):
        members = {m["singleton"]["id"]: m["singleton"]["name"] for m in field["container"]}
        value = lambda d: (int.from_bytes(d.stream, "big") if d.WhichOneof("value") == "stream"  # noqa: E731
                           else getattr(d, d.WhichOneof("value")))
        return [{members[d.field_id]: value(d) for d in c.val}
                for c in pb.ContainerArray.FromString(octets).container]

    def data(self, table, action, values, message):
        spec = self.action(table, action) if action else None
        message.action_id = spec["id"] if spec else 0
        fields = self.data_fields(table, spec)
        for name, value in values.items():
            field = fields[name]
            d = message.fields.add(field_id=field["id"])
            if value is None:
                continue # only asked for
            if "container" in field:
                d.container_arr_val = self.containers(field, value)
                continue
            kind = field["type"]["type"]
            if isinstance(value, list):
                array = d.bool_arr_val if kind == "bool" else d.str_arr_val if kind == "string" else d.int_arr_val
                array.val.extend(value)
            elif kind == "float":
                d.float_val = value
            elif kind in ("string", "enum"):
                d.str_val = value
            elif kind == "bool":
                d.bool_val = value
            else:
                d.stream = as_bytes(value, field["type"])

    def entry(self, name, key=None, action=None, data=None, default=False, pipe=None, **flags):
        table = self.table(name)
        entity = pb.Entity()
        e = entity.table_entry
        e.table_id, e.is_default_entry = table["id"], default
        if key is not None:
            e.key.SetInParent()
            self.key(table, key, e.key)
        if action or data is not None:
            e.data.SetInParent()
            self.data(table, action, data or {}, e.data)
        if pipe is not None:
            e.entry_tgt.pipe_id, e.entry_tgt.direction, e.entry_tgt.prsr_id = pipe, 0xff, 0xff
        for flag, value in flags.items():
            setattr(e.table_flags, flag, value)
        return entity

    def update(self, what, name, key=None, action=None, data=None, **more):
        return pb.Update(type=pb.Update.Type.Value(what), entity=self.entry(name, key, action, data, **more))

    # ---- calls ----
    def request(self, kind, **fields):
        request = kind(client_id=self.client, **fields)
        request.target.pipe_id, request.target.direction, request.target.prsr_id = ALL_PIPES, 0xff, 0xff
        return request

    def write(self, *updates, metadata=None, p4_name="", **fields):
        request = self.request(pb.WriteRequest, p4_name=p4_name, **fields)
        request.updates.extend(updates)
        return call(self.method["Write"], request, metadata=metadata)

    def read_raw(self, *entities, metadata=None, p4_name="", request=None):
        if request is None:
            request = self.request(pb.ReadRequest, p4_name=p4_name)
            request.entities.extend(entities)
        try:
            return list(self.method["Read"](request, timeout=60, metadata=metadata))
        except grpc.RpcError as e:
            raise Failed(e) from None

    def read(self, *entities, **more):
        """Entries as (table, key, action, data, is_default)."""
        return [self.decode(e.table_entry) for reply in self.read_raw(*entities, **more) for e in reply.entities]

    def decode(self, e):
        table = next(t for t in self.tables.values() if t["id"] == e.table_id)
        names = {f["id"]: f["name"] for f in table["key"]}
        texts = {f["name"] for f in table["key"] if f["type"]["type"] == "string"}
        number = lambda b: int.from_bytes(b, "big")  # noqa: E731
        key = {}
        for k in e.key.fields:
            match = k.WhichOneof("match_type")
            part = getattr(k, match)
            key[names[k.field_id]] = (number(part.value) if match == "exact" else (number(part.value),
                                                                                   number(part.mask))
                                      if match == "ternary" else (number(part.value), part.prefix_len) if match == "lpm"
                                      else (number(part.low), number(part.high)))
            if names[k.field_id] in texts:
                key[names[k.field_id]] = part.value.decode()
        action = next((a for a in table.get("action_specs", []) if a["id"] == e.data.action_id), None)
        fields = {f["id"]: f for f in reversed(list(self.data_fields(table, action).values()))}
        data = {}
        for d in e.data.fields:
            which = d.WhichOneof("value")
            value = getattr(d, which)
            name = fields[d.field_id]["name"]
            if which == "container_arr_val":
                data[name] = self.from_containers(fields[d.field_id], value)
                continue
            value = number(value) if which == "stream" else list(value.val) if which.endswith("arr_val") else value
            if name in data: # one of each pipe
                data[name] = (data[name] if isinstance(data[name], list) else [data[name]]) + [value]
            else:
                data[name] = value
        return table["name"], key, action["name"] if action else None, data, e.is_default_entry
