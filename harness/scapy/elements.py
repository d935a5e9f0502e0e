# SPDX-License-Identifier: Apache-2.0
"""What workers of SwitchML send."""


def vector(seed, count):
    """So many of 32 bits: the same for the same seed, others for another one, all bits in use."""
    state = seed * 2654435761 + 1
    out = []
    for _ in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        out.append(state >> 32)
    return out
