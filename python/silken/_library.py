# SPDX-License-Identifier: Apache-2.0
"""libsilken by ctypes: the declarations of hosts/include/silken/allreduce.h that the package uses."""
import ctypes
import os

ERRORS = {-1: "INVALID", -2: "NOMEM", -3: "TRANSPORT", -4: "STALLED", -5: "CLOSED", -6: "AGAIN",
          -7: "UNSUPPORTED", -8: "OVER", -9: "REFUSED",
          -10: "RANGE"}
TYPES = {"float32": 0, "int32": 1, "float16": 2, "bfloat16": 3, "float64": 4, "int64": 5}
SUM, AVERAGE = 0, 1
ATP, DLCP = 1, 2  # of enum silken_protocol
ENV_TEXTS = 4096

LOG = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)


class First(ctypes.Structure):
    _fields_ = [("complete", ctypes.c_uint64), ("number", ctypes.c_uint64)]


class Address(ctypes.Structure):
    _fields_ = [("mac", ctypes.c_char_p), ("ip", ctypes.c_char_p)]


class Atp(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("servers", ctypes.c_uint32),
                ("server", ctypes.POINTER(Address)), ("group", ctypes.POINTER(Address)),
                ("server_rack", ctypes.POINTER(ctypes.c_uint32)),
                ("rack", ctypes.POINTER(ctypes.c_uint32)), ("no_switch", ctypes.c_bool),
                ("first_index", ctypes.c_uint32), ("indices", ctypes.c_uint32),
                ("window", ctypes.c_uint32), ("window_max", ctypes.c_uint32),
                ("first", ctypes.POINTER(First))]


class Dlcp(ctypes.Structure):
    """struct silken_dlcp_job."""
    _fields_ = [("worker", ctypes.POINTER(Address)), ("servers", ctypes.c_uint32), ("ring", ctypes.c_bool),
                ("bound", ctypes.c_double), ("pull_bound", ctypes.c_double), ("tensors", ctypes.c_uint32),
                ("backwards", ctypes.c_bool), ("paper_threshold", ctypes.c_bool), ("cut_bytes", ctypes.c_uint64),
                ("link_mbps", ctypes.c_uint32), ("first_port", ctypes.c_uint16), ("ports", ctypes.c_uint16),
                ("period_us", ctypes.c_uint32), ("burst_us", ctypes.c_uint32)]


class Lane(ctypes.Structure):
    """struct silken_lane."""
    _fields_ = [("worker_mac", ctypes.c_char_p), ("worker_ip", ctypes.c_char_p), ("worker_port", ctypes.c_uint16),
                ("device", ctypes.c_char_p), ("cpu", ctypes.c_int), ("transport", ctypes.c_void_p)]


class Rdma(ctypes.Structure):
    """struct silken_rdma."""
    _fields_ = [(name, ctypes.c_uint32) for name in ("pairs", "queue_pair", "own", "psn", "switch_psn", "rkey")]


class Config(ctypes.Structure):
    """struct silken_config."""
    _fields_ = [("protocol", ctypes.c_int), ("rank", ctypes.c_uint32), ("workers", ctypes.c_uint32),
                ("job", ctypes.c_uint8), ("no_session", ctypes.c_bool), ("size", ctypes.c_uint16), ("atp", Atp),
                ("pool_size", ctypes.c_uint32), ("k", ctypes.c_uint16),
                ("worker_mac", ctypes.c_char_p), ("worker_ip", ctypes.c_char_p),
                ("switch_mac", ctypes.c_char_p), ("switch_ip", ctypes.c_char_p),
                ("worker_port", ctypes.c_uint16), ("switch_port", ctypes.c_uint16),
                ("device", ctypes.c_char_p), ("cpu", ctypes.c_int), ("transport", ctypes.c_void_p),
                ("lanes", ctypes.c_uint32), ("lane", ctypes.POINTER(Lane)),
                ("rto_min_us", ctypes.c_uint32), ("rto_max_us", ctypes.c_uint32),
                ("rto_initial_us", ctypes.c_uint32), ("stall_warning_ms", ctypes.c_uint32),
                ("hard_limit_ms", ctypes.c_uint32), ("progress_thread", ctypes.c_bool),
                ("log", LOG), ("log_context", ctypes.c_void_p), ("lease", ctypes.c_void_p), ("dlcp", Dlcp),
                ("audiences", ctypes.c_bool), ("f16", ctypes.c_bool), ("no_segments", ctypes.c_bool),
                ("rdma", Rdma)]


class Service(ctypes.Structure):
    """struct silken_service."""
    _fields_ = [("controller", ctypes.c_char_p), ("token", ctypes.c_char_p), ("token_file", ctypes.c_char_p),
                ("job", ctypes.c_char_p), ("rank", ctypes.c_uint32), ("workers", ctypes.c_uint32),
                ("ip", ctypes.c_char_p), ("mac", ctypes.c_char_p), ("port", ctypes.c_uint16),
                ("slots", ctypes.c_uint32), ("wait_ms", ctypes.c_uint32)]


class DlcpStats(ctypes.Structure):
    """struct silken_dlcp_job_stats."""
    _fields_ = [(name, ctypes.c_uint64) for name in (
        "packets_sent", "repeated", "important", "signals", "rate_halved", "rate_least", "packets_came", "packets_lost",
        "needless", "rounds", "paths_left", "refused", "marked", "segments", "missing_push", "missing_pull")]


class Stats(ctypes.Structure):
    """struct silken_stats."""
    _fields_ = [("tensors", ctypes.c_uint64), ("elements", ctypes.c_uint64),
                ("busy_ns", ctypes.c_uint64), ("packets_sent", ctypes.c_uint64),
                ("retransmissions", ctypes.c_uint64), ("answers", ctypes.c_uint64),
                ("ignored", ctypes.c_uint64 * 16), ("losses", ctypes.c_uint64),
                ("timeouts", ctypes.c_uint64), ("overflows", ctypes.c_uint64),
                ("marks", ctypes.c_uint64), ("rehashed", ctypes.c_uint64),
                ("rtt_ns", ctypes.c_uint64), ("rto_ns", ctypes.c_uint64),
                ("tx_bytes", ctypes.c_uint64), ("rx_bytes", ctypes.c_uint64),
                ("tx_full", ctypes.c_uint64), ("rx_dropped", ctypes.c_uint64)]


def declare(lib):
    """Types of the arguments and results, so that ctypes checks them."""
    comm, data = ctypes.c_void_p, ctypes.c_void_p
    lib.silken_strerror.restype = ctypes.c_char_p
    lib.silken_strerror.argtypes = [ctypes.c_int]
    lib.silken_config_env_sized.argtypes = [ctypes.POINTER(Config), ctypes.c_size_t, ctypes.c_char_p,
                                            ctypes.c_char_p, ctypes.c_size_t]
    lib.silken_open.argtypes = [ctypes.POINTER(comm), ctypes.POINTER(Config), ctypes.c_char_p,
                                ctypes.c_size_t]
    lib.silken_config_admit.argtypes = [ctypes.POINTER(Config), ctypes.c_char_p, ctypes.c_size_t]
    lib.silken_service_from_env.restype = ctypes.c_bool
    lib.silken_service_from_env.argtypes = [ctypes.POINTER(Service)]
    lib.silken_config_from_service.argtypes = [ctypes.POINTER(Config), ctypes.POINTER(Service), ctypes.c_char_p,
                                               ctypes.c_size_t]
    lib.silken_lease_close.restype = None
    lib.silken_lease_close.argtypes = [ctypes.c_void_p]
    lib.silken_close.restype = None
    lib.silken_close.argtypes = [comm]
    lib.silken_allreduce.argtypes = [comm, data, data, ctypes.c_size_t, ctypes.c_int, ctypes.c_int]
    lib.silken_config_init_sized.restype = None
    lib.silken_config_init_sized.argtypes = [ctypes.POINTER(Config), ctypes.c_size_t]
    lib.silken_submit.argtypes = [comm, data, data, ctypes.c_size_t, ctypes.c_int, ctypes.c_int,
                                  ctypes.POINTER(ctypes.c_void_p)]
    lib.silken_wait.argtypes = [ctypes.c_void_p]
    lib.silken_dlcp_layer.argtypes = [comm, ctypes.c_uint32, ctypes.c_uint32]
    lib.silken_dlcp_job_stats.argtypes = [comm, ctypes.POINTER(DlcpStats)]
    lib.silken_stats.restype = None
    lib.silken_stats.argtypes = [comm, ctypes.POINTER(Stats)]
    lib.silken_segments.restype = None
    lib.silken_segments.argtypes = [comm, ctypes.POINTER(ctypes.c_uint64), ctypes.POINTER(ctypes.c_uint64)]
    return lib


_loaded = None


def load():
    """The library, loaded once: SILKEN_LIBRARY names the file, else the system's search path has it."""
    global _loaded
    if _loaded is None:
        name = os.environ.get("SILKEN_LIBRARY", "libsilken.so.0")
        _loaded = declare(ctypes.CDLL(name))
    return _loaded
