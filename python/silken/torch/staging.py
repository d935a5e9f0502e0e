# SPDX-License-Identifier: Apache-2.0
"""staging: host memory that a tensor is summed from and to.

The switch adds float32 and int32, or 16-bit floats (SILKEN_F16), of which float16 are sent as they are and int32 go to
Gloo. A sum is written beside the tensor, never over it, so that the tensor
can be summed another way when the switch goes away, and is copied into the tensor when it is complete.

HostStage is for tensors in the processor's memory; CudaStage for those of a GPU: they go through pinned
memory on a stream of their own, behind what the caller's stream has been given before, and what the
caller's stream is given after waiting comes behind the result. Buffers are used again: one is free when
its result has been copied, and the one after it is complete (the queue keeps the last result).
"""
import os
import threading

import torch

SWITCH_TYPE = {torch.float32: torch.float32, torch.float16: torch.float32,
               torch.bfloat16: torch.float32, torch.int32: torch.int32}
if os.environ.get("SILKEN_F16") == "1":  # the same at all ranks
    SWITCH_TYPE[torch.float16] = torch.float16
    del SWITCH_TYPE[torch.int32]


class Buffers:
    """Buffers by type and size, for use again. A buffer given back is handed out after |KEPT| others: the
    queue keeps the last result, and one is in work."""
    KEPT = 3

    def __init__(self, pinned):
        self.pinned, self.free, self.lock = pinned, {}, threading.Lock()

    def take(self, dtype, count):
        with self.lock:
            spare = self.free.get((dtype, count), [])
            if len(spare) >= self.KEPT:
                buffer, event = spare.pop(0)
            else:
                buffer, event = torch.empty(count, dtype=dtype, pin_memory=self.pinned), None
        if event is not None:
            event.synchronize()
        return buffer

    def give(self, buffer, event=None):
        with self.lock:
            self.free.setdefault((buffer.dtype, buffer.numel()), []).append((buffer, event))


def average(total, size):
    """The mean, from the sum, in place: of integers what C's division gives, as NCCL has it."""
    if total.dtype.is_floating_point:
        return total.div_(size)
    return total.div_(size, rounding_mode="trunc")


class HostStage:
    """Tensors in the processor's memory. A float32 tensor without gaps is read where it is."""

    def __init__(self):
        self.buffers = Buffers(pinned=False)

    def future(self):
        return torch.futures.Future()

    def begin(self, tensor):
        """Called by who submits. Returns what end() needs."""
        return {"tensor": tensor}

    def given(self, at):
        """(input, output) for the sum. Called by the queue."""
        tensor = at["tensor"]
        to = SWITCH_TYPE[tensor.dtype]
        at["result"] = self.buffers.take(to, tensor.numel())
        return tensor.detach().to(to).contiguous().view(-1), at["result"]

    def end(self, at, divisor, future):
        """Copies the result into the tensor, divided if |divisor| is not None, and ends the future."""
        tensor, result = at["tensor"], at["result"]
        total = average(result.clone(), divisor) if divisor else result
        with torch.no_grad():
            tensor.copy_(total.view(tensor.shape))
        self.buffers.give(result)
        future.set_result([tensor])


class CudaStage:
    """Tensors of one GPU."""

    def __init__(self, device):
        self.device = device
        self.buffers = Buffers(pinned=True)
        self.down = torch.cuda.Stream(device)  # to the host
        self.up = torch.cuda.Stream(device)    # and back: a result need not wait for later inputs

    def future(self):
        return torch.futures.Future(devices=[self.device])

    def begin(self, tensor):
        to = SWITCH_TYPE[tensor.dtype]
        given = self.buffers.take(to, tensor.numel())
        self.down.wait_stream(torch.cuda.current_stream(self.device))
        with torch.cuda.stream(self.down), torch.no_grad():
            flat = tensor.detach().to(to).contiguous().view(-1)
            given.copy_(flat, non_blocking=True)
            ready = self.down.record_event()
        tensor.record_stream(self.down)
        return {"tensor": tensor, "given": given, "ready": ready}

    def given(self, at):
        at["ready"].synchronize()
        at["result"] = self.buffers.take(at["given"].dtype, at["given"].numel())
        return at["given"], at["result"]

    def end(self, at, divisor, future):
        tensor, result = at["tensor"], at["result"]
        with torch.cuda.stream(self.up), torch.no_grad():
            total = result.to(self.device, non_blocking=True)
            if divisor:
                average(total, divisor)
            tensor.copy_(total.view(tensor.shape))
            tensor.record_stream(self.up)
            copied = self.up.record_event()
            self.buffers.give(at["given"])
            self.buffers.give(result, copied)
            future.set_result([tensor])  # records the stream, which wait() makes the caller's wait for
