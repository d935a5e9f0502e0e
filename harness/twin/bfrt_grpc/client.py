# SPDX-License-Identifier: Apache-2.0
"""client: of BF Runtime's published Python client the names that a pack's setup.py uses, over the client of this tree's
tests (harness/brt/controller.py). It checks what it is given as the published one does: known fields, one kind of value that is the
field's, all mandatory fields."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "brt"))
from controller import Controller, Failed, call, pb  # noqa: E402


class BfruntimeRpcException(Exception):
    """What a call left, with the sentences of its updates."""

KINDS = ("val", "float_val", "str_val", "int_arr_val", "bool_arr_val", "bool_val", "str_arr_val")


class Target:
    def __init__(self, device_id=0, pipe_id=0xffff, direction=0xff, prsr_id=0xff):
        assert device_id == 0
        self.pipe_id, self.direction, self.prsr_id = pipe_id, direction, prsr_id


class KeyTuple:
    def __init__(self, name, value=None, mask=None, prefix_len=None, low=None, high=None):
        self.name = name
        self.value = (low, high) if low is not None else (value, mask) if mask is not None else \
            (value, prefix_len) if prefix_len is not None else value
        self.match = ("Range" if low is not None else "Ternary" if mask is not None else
                      "LPM" if prefix_len is not None else "Exact")


class DataTuple:
    def __init__(self, name, **value):
        (kind, self.value), = value.items()
        assert kind in KINDS, kind
        self.name, self.kind = name, kind


def kind_of(field):
    """How a DataTuple names a value of this field."""
    kind = {"bool": "bool", "string": "str", "float": "float"}.get(field["type"]["type"], "int")
    if field["repeated"]:
        return kind + "_arr_val"
    return "val" if kind == "int" else kind + "_val"


class Table:
    def __init__(self, controller, table):
        self.controller, self.table = controller, table

    def make_key(self, fields):
        matches = {f["name"]: f["match_type"] for f in self.table["key"]}
        assert {f.name: f.match for f in fields} == {f.name: matches[f.name] for f in fields}, self.table["name"]
        return {f.name: f.value for f in fields}

    def make_data(self, fields, action_name=None):
        action = self.controller.action(self.table, action_name) if action_name else None
        known = self.controller.data_fields(self.table, action)
        for field in fields:
            assert kind_of(known[field.name]) == field.kind, (self.table["name"], field.name, field.kind)
        return action_name, {f.name: f.value for f in fields}

    def write(self, what, target, key, data, default=False):
        action, values = data
        update = self.controller.update(what, self.table["name"], key, action, values, default=default)
        request = self.controller.request(pb.WriteRequest)
        request.target.pipe_id = target.pipe_id
        request.updates.append(update)
        try:
            call(self.controller.method["Write"], request)
        except Failed as e:
            raise BfruntimeRpcException("; ".join(one.message for one in e.errors) or e.sentence) from None

    def entry_add(self, target, key_list, data_list):
        for key, data in zip(key_list, data_list):
            self.write("INSERT", target, key, data)

    def entry_mod(self, target, key_list, data_list):
        for key, data in zip(key_list or [{}], data_list):
            self.write("MODIFY", target, key, data)

    def default_entry_set(self, target, data):
        self.write("MODIFY", target, None, data, default=True)

    def entry_get(self, target, key_list, flags):
        assert target.pipe_id == 0xffff and not flags["from_hw"]
        for key in key_list:
            try:
                yield from self.controller.read(self.controller.entry(self.table["name"], key))
            except Failed as e:
                raise BfruntimeRpcException(e.sentence) from None


class Info:
    def __init__(self, controller):
        self.controller = controller

    def table_get(self, name):
        return Table(self.controller, self.controller.tables[name])


class ClientInterface:
    def __init__(self, grpc_addr, client_id, device_id):
        assert device_id == 0
        self.controller = Controller(grpc_addr, client=client_id)

    def bind_pipeline_config(self, p4_name):
        self.controller.bind(p4_name)

    def bfrt_info_get(self, p4_name):
        assert p4_name == self.controller.p4_name
        return Info(self.controller)

    def tear_down_stream(self):
        self.controller.close()
