#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# checkpoint_package.sh PROGRAM: a checkpoint of a transformer that our program (test_train_checkpoint) writes is opened
# by the Python package safetensors in NumPy and, where it is installed, in PyTorch: names, shapes, types and every bit.
set -euo pipefail
program=$(realpath "$1")
if ! python3 -c 'import safetensors.numpy' 2> /dev/null; then
  echo "Skipped: Python's packages safetensors and numpy aren't here"
  exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
LINDYN_CHECKPOINT=state.json "$program" --no-skip --test-case='a checkpoint is written where*' > said || { cat said; exit 1; }

python3 - << 'END'
import json
import numpy as np
from safetensors.numpy import load_file

def check(tensors, package):
    assert sorted(tensors) == sorted(content)
    for name, tensor in tensors.items():
        expected = np.array(content[name], np.float32)
        assert (tensor.dtype, tensor.shape) == (expected.dtype, expected.shape), name
        assert tensor.tobytes() == expected.tobytes(), name
    print(f'{package} opens all {len(tensors)} tensors of the checkpoint, with the very bits')

state, content = json.load(open('state.json')), json.load(open('state.content'))
assert state['steps'] == 5 and 'blocks.0.mlp.fc1.bias' in content
check(load_file(state['tensors']), 'NumPy')
try:
    from safetensors.torch import load_file as load_torch
except ImportError:
    print("PyTorch isn't here")
else:
    check({name: tensor.numpy() for name, tensor in load_torch(state['tensors']).items()}, 'PyTorch')
END
