#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# docs_rejects.sh DOXYGEN DOXYFILE: with these settings Doxygen accepts a documented function and fails, saying why, for
# what readers would miss or be misled by.
set -euo pipefail
doxygen=$1 doxyfile=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# write DOCSTRING: the reference of a header with one function; what Doxygen says is in $said.
write() {
  printf '/// \\file\n/// A header.\n\n%s\nint twice(int number);\n' "$1" > "$folder/header.hpp"
  said=$({ cat "$doxyfile"; printf '%s\n' "INPUT = $folder/header.hpp" "OUTPUT_DIRECTORY = $folder" 'IMAGE_PATH =' \
    'HTML_EXTRA_FILES =' 'USE_MDFILE_AS_MAINPAGE ='; } | "$doxygen" - 2>&1)
}

# rejects DOCSTRING WORDS: it fails, and says these words.
rejects() {
  if write "$1"; then echo "Doxygen doesn't mind: $1"; exit 1; fi
  [[ $said == *"$2"* ]] || { echo "Doxygen doesn't say '$2' of: $1"; echo "$said"; exit 1; }
}

write '/// Two times a number.' || { echo "$said"; exit 1; }
rejects '' 'is not documented'
rejects '/// \param size  what is doubled' "argument 'size'"
rejects '/// Two times a <number>.' 'xml/html tag'
rejects '/// Two times \number.' 'unknown command'
