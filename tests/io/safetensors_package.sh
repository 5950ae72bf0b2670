#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# safetensors_package.sh PROGRAM: what the Python package safetensors writes, our program (test_io_safetensors) reads and
# writes again, and the package reads that: names, types, shapes, values, metadata and, without those, the very bytes.
set -euo pipefail
program=$(realpath "$1")
if ! python3 -c 'import safetensors.numpy' 2> /dev/null; then
  echo "Skipped: Python's packages safetensors and numpy aren't here"
  exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

python3 - << 'END'
import numpy as np
from safetensors.numpy import save_file

random = np.random.default_rng(1)
def tensors(count):
    kinds, names = ['float32', 'float64'], ['W_KQ.%d', 'é %d', '"%d"\n\\', 'b/%d']
    return {names[i % 4] % i: random.normal(size=random.integers(0, 4, size=i % 5)).astype(kinds[random.integers(2)])
            for i in range(count)}

for count in range(20):
    save_file(tensors(count), f'plain{count}')
    save_file(tensors(count), f'texts{count}', {'from': 'NumPy', 'é"\n': '', '': '\\'})
END

for original in plain* texts*; do
  LINDYN_ORIGINAL=$original LINDYN_COPY=$original.copy "$program" --no-skip --test-case='the file that the environment*' > said ||
    { cat said; exit 1; }
done

python3 - << 'END'
import glob
from safetensors import safe_open

def content(path):
    with safe_open(path, 'numpy') as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}
        return file.metadata(), {name: (t.dtype, t.shape, t.tobytes()) for name, t in tensors.items()}

originals = [path for path in glob.glob('*') if path + '.copy' in glob.glob('*')]
assert len(originals) == 40
for path in originals:
    assert content(path) == content(path + '.copy'), path
    if path.startswith('plain'):
        assert open(path, 'rb').read() == open(path + '.copy', 'rb').read(), path
END
echo "40 files are the same to the Python package"
