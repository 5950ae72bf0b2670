#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A training step of the networks of trainer_step/windows and trainer_step/regimes in PyTorch, on one thread.

torch_step.py {windows,regimes} [--seconds S]

Prints one line of JSON: the version of PyTorch, the number of parameters, and for each variant the medians, in seconds, of
the time and the processor time of a step: forward pass, cross-entropy at the last place, backward pass, AdamW. Batches are
made beforehand and not counted. Variants: "plain", attention and AdamW as everyone writes them; "fused", the kernels that
newer versions have for both; steps of both alternate.

All is done to PyTorch's advantage that we know of: the program restarts itself without OPENBLAS_CORETYPE, which may force
kernels of an older processor, and with thresholds of malloc that keep it from handing memory back to the system in every
step, which otherwise costs up to half of the time.
"""
import argparse
import itertools
import json
import os
import statistics
import sys
import time

MALLOC = {"MALLOC_MMAP_THRESHOLD_": "4294967296", "MALLOC_TRIM_THRESHOLD_": "8589934592", "MALLOC_TOP_PAD_": "268435456"}
if any(os.environ.get(name) != value for name, value in MALLOC.items()):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS_")}
    os.execve(sys.executable, [sys.executable, *sys.argv], {**kept, **MALLOC, "OMP_NUM_THREADS": "1"})

import torch  # noqa: E402  (behind the restart)
from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

LENGTH = 3
CONFIGURATIONS = {
    "windows": dict(vocabulary=24, outputs=24, width=64, heads=2, layers=2, hidden=256, batch=128, rate=3e-3),
    "regimes": dict(vocabulary=98, outputs=97, width=128, heads=8, layers=4, hidden=512, batch=512, rate=1e-3),
}


class Block(nn.Module):
    def __init__(self, width, heads, hidden, fused):
        super().__init__()
        self.heads, self.fused = heads, fused
        self.before_attention, self.before_perceptron = nn.LayerNorm(width), nn.LayerNorm(width)
        self.queries_keys_values, self.output = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, hidden), nn.Linear(hidden, width)
        self.register_buffer("hidden_keys", torch.full((LENGTH, LENGTH), -torch.inf).triu(1))

    def attend(self, x):
        batch, length, width = x.shape
        parts = self.queries_keys_values(x).view(batch, length, 3, self.heads, width // self.heads)
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        if self.fused:
            averages = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            scores = q @ k.transpose(2, 3) * (width // self.heads) ** -0.5 + self.hidden_keys
            averages = torch.softmax(scores, -1) @ v
        return self.output(averages.transpose(1, 2).reshape(batch, length, width))

    def forward(self, x):
        x = x + self.attend(self.before_attention(x))
        return x + self.down(functional.gelu(self.up(self.before_perceptron(x))))


class Network(nn.Module):
    def __init__(self, c, fused):
        super().__init__()
        self.tokens = nn.Embedding(c["vocabulary"], c["width"])
        self.places = nn.Parameter(0.02 * torch.randn(LENGTH, c["width"]))
        self.blocks = nn.Sequential(*(Block(c["width"], c["heads"], c["hidden"], fused) for _ in range(c["layers"])))
        self.last, self.head = nn.LayerNorm(c["width"]), nn.Linear(c["width"], c["outputs"])

    def forward(self, tokens):
        return self.head(self.last(self.blocks(self.tokens(tokens) + self.places)[:, -1]))


def step_of(c, fused):
    """The network's number of parameters, and a function that makes a step on a batch."""
    torch.manual_seed(0)
    network = Network(c, fused)
    settings = dict(lr=c["rate"], betas=(0.9, 0.98), weight_decay=0.1, **({"fused": True} if fused else {}))
    rule = torch.optim.AdamW(network.parameters(), **settings)

    def step(tokens, answers):
        rule.zero_grad(set_to_none=True)
        functional.cross_entropy(network(tokens), answers).backward()
        rule.step()

    return sum(p.numel() for p in network.parameters()), step


def main():
    parser = argparse.ArgumentParser(description="A training step in PyTorch, on one thread.")
    parser.add_argument("configuration", choices=CONFIGURATIONS)
    parser.add_argument("--seconds", type=float, default=3, help="how long to measure each variant")
    options = parser.parse_args()
    torch.set_num_threads(1)
    c = CONFIGURATIONS[options.configuration]
    batches = [(torch.randint(c["vocabulary"], (c["batch"], LENGTH)), torch.randint(c["outputs"], (c["batch"],)))
               for _ in range(32)]

    parameters, plain = step_of(c, fused=False)
    steps = {"plain": plain}
    try:
        _, fused = step_of(c, fused=True)
        fused(*batches[0])
        steps["fused"] = fused
    except (AttributeError, TypeError, ValueError, RuntimeError):
        pass  # this version has no such kernels

    times = {name: [] for name in steps}
    begin = time.perf_counter()
    for batch in itertools.cycle(batches):
        for name, step in steps.items():
            at, at_processor = time.perf_counter(), time.process_time()
            step(*batch)
            times[name].append((time.perf_counter() - at, time.process_time() - at_processor))
        if time.perf_counter() - begin > options.seconds * len(steps) and len(times["plain"]) > 10:
            break
    warm = {name: all_times[3:] for name, all_times in times.items()}
    print(json.dumps({
        "torch": torch.__version__, "parameters": parameters, "steps": len(warm["plain"]),
        "variants": {name: {"real": statistics.median(real for real, _ in measured),
                            "processor": statistics.median(processor for _, processor in measured)}
                     for name, measured in warm.items()}}))


if __name__ == "__main__":
    main()
