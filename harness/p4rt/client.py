# SPDX-License-Identifier: Apache-2.0
"""client: a P4Runtime client for tests: generic gRPC calls with messages generated from p4rt/*.proto, and ids taken by
name from the P4Info that the switch sends.

    with Client("127.0.0.1:9559", election=1) as c:      # opens a stream and becomes primary
        c.write(c.update("INSERT", c.entry("Ingress.forward", {"hdr.ethernet.dst_addr": 1}, ("Ingress.send", [2]))))
        c.read(c.entry("Ingress.forward"))
"""
import os
import queue
import sys

import grpc

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../brt"))
from stubs import failures, generated  # noqa: E402

status_pb, info_pb, pb = generated("brt/status.proto", "p4rt/p4info.proto", "p4rt/p4runtime.proto")
Failed, call = failures(status_pb, "type.googleapis.com/p4.v1.Error", pb.Error)

SERVICE = "/p4.v1.P4Runtime/"


def as_bytes(value):
    """As short as it can be; bytes are taken as they are."""
    return value if isinstance(value, bytes) else value.to_bytes(max(1, (value.bit_length() + 7) // 8), "big")


class Client:
    def __init__(self, address, election=None, device=1, role=None, stream=True, channel=None):
        self.channel = channel or grpc.insecure_channel(address, options=[("grpc.use_local_subchannel_pool", 1)])
        self.device, self.election, self.role = device, election, role
        self.requests, self.responses = queue.Queue(), None
        self.method = {}
        for name, reply in (("Write", pb.WriteResponse),
                            ("SetForwardingPipelineConfig", pb.SetForwardingPipelineConfigResponse),
                            ("GetForwardingPipelineConfig", pb.GetForwardingPipelineConfigResponse),
                            ("Capabilities", pb.CapabilitiesResponse)):
            self.method[name] = self.channel.unary_unary(SERVICE + name, self.serialized, reply.FromString)
        self.method["Read"] = self.channel.unary_stream(SERVICE + "Read", self.serialized, pb.ReadResponse.FromString)
        self.first = None
        if stream:
            self.open()
            self.first = self.arbitrate(election)
        self.info = self.get_config().config.p4info if device == 1 else None

    @staticmethod
    def serialized(message):
        """Garbage is given as bytes."""
        return message if isinstance(message, bytes) else message.SerializeToString()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.requests.put(None)
        if self.responses:
            try:
                for _ in self.responses:
                    pass
            except grpc.RpcError:
                pass
        self.channel.close()

    # ---- the stream ----
    def open(self):
        self.requests = queue.Queue() # gRPC still takes from that of a stream before
        stream = self.channel.stream_stream(SERVICE + "StreamChannel", self.serialized,
                                            pb.StreamMessageResponse.FromString)
        self.responses = stream(iter(self.requests.get, None), timeout=600) # a program may be compiled meanwhile

    def send(self, **fields):
        self.requests.put(pb.StreamMessageRequest(**fields))

    def next(self):
        try:
            return next(self.responses)
        except grpc.RpcError as e:
            raise Failed(e) from None

    def arbitrate(self, election, device=None, role=None, **more):
        """What the switch says to it."""
        update = pb.MasterArbitrationUpdate(device_id=self.device if device is None else device, **more)
        if election is not None:
            update.election_id.CopyFrom(self.uint128(election))
        role = self.role if role is None else role
        if role is not None:
            update.role.name = role
        self.send(arbitration=update)
        return self.next().arbitration

    @staticmethod
    def uint128(number):
        return pb.Uint128(high=number >> 64, low=number & 2 ** 64 - 1)

    def status(self):
        """What a client is told next about who is primary: (its status, the highest election id)."""
        told = self.next().arbitration
        return told.status.code, told.election_id.high << 64 | told.election_id.low

    # ---- names to ids ----
    @staticmethod
    def named(objects, name):
        found = [o for o in objects if name in (o.preamble.name, o.preamble.alias)]
        assert len(found) == 1, (name, [o.preamble.name for o in objects])
        return found[0]

    def id(self, kind, name):
        return self.named(getattr(self.info, kind), name).preamble.id

    # ---- messages ----
    def action(self, name, values):
        a = self.named(self.info.actions, name)
        action = pb.Action(action_id=a.preamble.id)
        for param, value in zip(a.params, values):
            action.params.add(param_id=param.id, value=as_bytes(value))
        return action

    def entry(self, name=None, key=None, action=None, member=None, group=None, **fields):
        """An entry as an entity; 'action': (name, [values])."""
        entity = pb.Entity()
        e = entity.table_entry
        e.SetInParent()
        if name is not None:
            table = self.named(self.info.tables, name)
            e.table_id = table.preamble.id
            for field in table.match_fields:
                if key and field.name in key:
                    self.match(e.match.add(field_id=field.id), field.match_type, key[field.name])
        if action:
            e.action.action.CopyFrom(self.action(*action))
        if member is not None:
            e.action.action_profile_member_id = member
        if group is not None:
            e.action.action_profile_group_id = group
        for field, value in fields.items():
            if hasattr(value, "CopyFrom"):
                getattr(e, field).CopyFrom(value)
            else:
                setattr(e, field, value)
        return entity

    @staticmethod
    def match(m, kind, value):
        if kind == info_pb.MatchField.EXACT:
            m.exact.value = as_bytes(value)
        elif kind == info_pb.MatchField.TERNARY:
            m.ternary.value, m.ternary.mask = as_bytes(value[0]), as_bytes(value[1])
        elif kind == info_pb.MatchField.LPM:
            m.lpm.value, m.lpm.prefix_len = as_bytes(value[0]), value[1]
        else:
            m.range.low, m.range.high = as_bytes(value[0]), as_bytes(value[1])

    @staticmethod
    def update(what, entity):
        return pb.Update(type=pb.Update.Type.Value(what), entity=entity)

    # ---- calls ----
    def request(self, kind, election=None, **fields):
        fields.setdefault("device_id", self.device)
        fields.setdefault("role", self.role or "")
        request = kind(**fields)
        election = self.election if election is None else election
        if election is not None:
            request.election_id.CopyFrom(self.uint128(election))
        return request

    def write(self, *updates, **fields):
        return call(self.method["Write"], self.request(pb.WriteRequest, updates=updates, **fields))

    def read(self, *entities, device=None):
        """The entities, of all messages."""
        return [e for reply in self.read_raw(pb.ReadRequest(device_id=self.device if device is None else device,
                                                            entities=entities)) for e in reply.entities]

    def read_raw(self, request):
        try:
            return list(self.method["Read"](request, timeout=60))
        except grpc.RpcError as e:
            raise Failed(e) from None

    def get_config(self, **fields):
        fields.setdefault("device_id", self.device)
        return call(self.method["GetForwardingPipelineConfig"], pb.GetForwardingPipelineConfigRequest(**fields))

    def set_config(self, what, p4info=None, cookie=None, **fields):
        request = self.request(pb.SetForwardingPipelineConfigRequest, **fields)
        request.action = pb.SetForwardingPipelineConfigRequest.Action.Value(what)
        if p4info is not None:
            request.config.p4info.CopyFrom(p4info)
        if cookie is not None:
            request.config.cookie.cookie = cookie
        return call(self.method["SetForwardingPipelineConfig"], request)


class Expect:
    """Calls that fail as they should."""

    def __init__(self, checks):
        self.checks = checks

    def fails(self, what, code, function, *args, **kwargs):
        """The sentence of a call that fails with this status."""
        try:
            function(*args, **kwargs)
        except Failed as e:
            self.checks.equal(what, e.code, code)
            return e.sentence
        self.checks.equal(what, "OK", code)
        return ""

    def updates_fail(self, what, codes, c, *updates):
        """The sentences of the updates of a Write."""
        try:
            c.write(*updates)
        except Failed as e:
            self.checks.equal(what, (e.code, e.codes()), ("UNKNOWN", codes))
            return [error.message for error in e.errors]
        self.checks.equal(what, "OK", codes)
        return [""]
