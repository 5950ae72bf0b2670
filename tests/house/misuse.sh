#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# misuse.sh SOURCE COMPILER ARGS..: passes if SOURCE doesn't compile and the compiler's message holds the sentence of
# the source's line "// expect: SENTENCE". A source without such a line has to compile.
set -uo pipefail
source=$1
sentence=$(sed -n 's|^// expect: ||p' "$source")
output=$("${@:2}" -fsyntax-only "$source" 2>&1)
compiled=$?
echo "$output"
if [[ -z $sentence ]]; then
  exit $compiled
elif (( compiled == 0 )); then
  echo "$source compiles, but shouldn't"
  exit 1
elif ! grep -qF -- "$sentence" <<< "$output"; then
  echo "the message doesn't say: $sentence"
  exit 1
fi
