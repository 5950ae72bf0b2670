# SPDX-License-Identifier: MIT
# Sourced by examples/run, tests/run, benchmarks/run and .ci/run: installs what is missing, configures and builds.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# need [COMMAND:]PACKAGE..: installs those Debian packages that are neither installed nor there as that command.
need() {
  local item missing=()
  for item; do
    command -v "${item%%:*}" > /dev/null ||
      [[ $(dpkg-query -W -f '${db:Status-Status}' "${item##*:}" 2> /dev/null) == installed ]] ||
      missing+=("${item##*:}")
  done
  (( ${#missing[@]} )) || return 0

  local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=120)
  (( EUID == 0 )) || apt=(sudo -n "${apt[@]}")
  echo "Installing ${missing[*]}" >&2
  if ! { "${apt[@]}" update; "${apt[@]}" install -y --no-install-recommends "${missing[@]}"; } < /dev/null >&2; then
    echo "These packages are missing and can't be installed from here. Please run, as root:" >&2
    echo "  apt-get update && apt-get install -y --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
}

# need_to_build [ITEM..]: what the build needs, and what else is named.
need_to_build() {
  command -v make > /dev/null || set -- ninja:ninja-build "$@"
  [[ -e /usr/local/cuda/include/cccl/thrust/version.h ]] || set -- libthrust-dev "$@"
  need g++ cmake git libeigen3-dev libboost-dev nlohmann-json3-dev doctest-dev libcli11-dev libbenchmark-dev libtbb-dev "$@"
}

# build PRESET TARGETS [OPTION OF CMAKE..]: configures the preset and builds the targets; all that it says is on stderr.
build() (
  if command -v ninja > /dev/null; then export CMAKE_GENERATOR=${CMAKE_GENERATOR-Ninja}; fi
  cd "$root"
  cmake --preset "$1" "${@:3}" >&2
  cmake --build --preset "$1" --parallel "$(nproc)" --target $2 >&2
)
