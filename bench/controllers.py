# SPDX-License-Identifier: Apache-2.0
"""What a Python client writes a second, one entry in a call and 100 in a call, to a switch and to a server that does nothing,
by turns: controllers.py ADDRESS NULL_ADDRESS SECONDS CPU PID NULL_PID. Prints JSON for bench/controllers.c. With SDE, a checkout of
open-p4studio, in the environment it is that SDE's own client, as it is; else gRPC's with this tree's messages."""
import json
import os
import statistics
import sys
import tempfile
import time

sys.path[:0] = ["harness/brt"]
ENTRIES, BATCH = 20000, 100


class Published:
    """The SDE's client."""

    def __init__(self, address, number):
        from bfrt_grpc import client # pylint: disable=import-outside-toplevel
        self.client = client
        self.interface = client.ClientInterface(address, number, 0)
        self.interface.bind_pipeline_config("controllers")
        self.table = self.interface.bfrt_info_get("controllers").table_get("pipe.Ingress.forward")
        self.target = client.Target(device_id=0, pipe_id=0xffff)

    def entries(self, first, n):
        key, data = self.client.KeyTuple, self.client.DataTuple
        return ([self.table.make_key([key("hdr.ethernet.dst_addr", 2 << 40 | i)]) for i in range(first, first + n)],
                [self.table.make_data([data("port", 2)], "Ingress.send") for i in range(n)])

    def add(self, made):
        self.table.entry_add(self.target, *made)

    def clear(self):
        self.table.entry_del(self.target)

    def close(self):
        self.interface.tear_down_stream()


class Plain:
    """gRPC's own client."""

    def __init__(self, address, _):
        import controller # pylint: disable=import-outside-toplevel
        self.c = controller.Controller(address)
        self.c.bind()

    def entries(self, first, n):
        return [self.c.update("INSERT", "pipe.Ingress.forward", {"hdr.ethernet.dst_addr": 2 << 40 | i}, "Ingress.send",
                              {"port": 2}) for i in range(first, first + n)]

    def add(self, made):
        self.c.write(*made)

    def clear(self):
        self.c.write(self.c.update("DELETE", "pipe.Ingress.forward"))

    def close(self):
        self.c.close()


def worked(pid):
    """Seconds of processor time of the threads that serve clients: of a switch its control thread."""
    total = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        folder = f"/proc/{pid}/task/{thread}"
        with open(f"{folder}/comm", encoding="utf-8") as f:
            name = f.read().strip()
        with open(f"{folder}/schedstat", encoding="utf-8") as f:
            total += int(f.read().split()[0]) if name in ("control", "benchmark") else 0
    return total / 1e9


def rate(client, pid, batch, seconds, calls):
    """Entries a second, and the processor's seconds for one: the client's and the server's. Adds what each call took."""
    done, first, end = 0, 0, time.monotonic() + seconds
    begin, cost = time.monotonic(), time.process_time() + worked(pid)
    while time.monotonic() < end and first + batch <= ENTRIES:
        at = time.monotonic()
        client.add(client.entries(first, batch))
        calls.append(time.monotonic() - at)
        first += batch
        done += batch
    took, cost = time.monotonic() - begin, time.process_time() + worked(pid) - cost
    client.clear()
    return done / took, cost / done


def main():
    addresses, seconds, pids = sys.argv[1:3], float(sys.argv[3]), sys.argv[5:7]
    os.sched_setaffinity(0, set(os.sched_getaffinity(0)) - {int(sys.argv[4])} or os.sched_getaffinity(0))
    clients = [kind(address, 1) for address in addresses]
    result = {}
    rounds = 5
    for batch, name in ((1, "single"), (BATCH, "batch")):
        rates, costs, calls = [[], []], [[], []], [[], []]
        for i in range(rounds):
            for k in ((0, 1), (1, 0))[i % 2]:
                entries, cost = rate(clients[k], pids[k], batch, seconds / rounds / 4, calls[k])
                rates[k].append(entries)
                costs[k].append(cost)
        ratio = [a / b for a, b in zip(*rates)]
        result[f"python_{name}_per_second"] = statistics.median(rates[0])
        result[f"python_{name}_null_per_second"] = statistics.median(rates[1])
        result[f"python_{name}_ratio"] = statistics.median(ratio)
        first = [statistics.quantiles(c, n=4)[0] for c in calls]
        result[f"python_{name}_quartile_ratio"] = first[1] / first[0]
        result[f"python_{name}_work_ratio"] = statistics.median(b / a for a, b in zip(*costs))
    result["what"] = f"python: {kind.__doc__.rstrip('.')}, one entry in a call and {BATCH} in a call, by turns with the " \
                     "same client at a server of this tree's rpc/ that answers and does nothing; quartile_ratio: of " \
                     "the first quartiles of what calls took, which other processes disturb less; work_ratio: of the " \
                     "processor time of client and server"
    for client in clients:
        client.close()
    print(json.dumps(result), flush=True)
    os._exit(0) # threads of the SDE's client do not end


kind = Plain
with tempfile.TemporaryDirectory(prefix="silken-client-") as folder:
    if os.environ.get("SDE"):
        import outside
        made = outside.prepare(folder, os.environ["SDE"], os.environ["SDE"])
        sys.path[:0] = made
        exec(open(os.path.join(folder, "sitecustomize.py"), encoding="utf-8").read()) # pylint: disable=exec-used
        kind = Published
    main()
