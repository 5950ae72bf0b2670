# SPDX-License-Identifier: MIT
# Sourced by tests of examples with the example's path: they are skipped where it isn't built, and run in a folder of their
# own, which is removed at the end.
set -euo pipefail
program=$1
if [[ ! -x $program ]]; then
  echo "The example isn't built: skipped"
  exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
fail() { echo "FAILED: $*" >&2; exit 1; }
