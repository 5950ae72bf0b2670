#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# compile_time.sh SOURCE COMPILER ARGS..: passes if SOURCE compiles at -O2 within as many seconds of processor time as
# its line "// seconds: N" allows; that time hardly depends on what else the machine does.
set -uo pipefail
ulimit -t "$(sed -n 's|^// seconds: ||p' "$1")"
time "${@:2}" -O2 -c "$1" -o /dev/null
