#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# two_timescale.sh PROGRAM: the example two_timescale at a tiny size. It is skipped where the example isn't built.
. "$(dirname "${BASH_SOURCE[0]}")/../example.sh"

small=(--keys 4 --anchors 3 --pairs 6 --width 8 --updates 2000 --window 500 --budget 4 --onsets 0,100 --onset-to 400
       --width-from 100 --width-to 800 --resolution 3 --seeds 1 --starts 8 --module-updates 20 --module-onsets 0,10)
less=("${small[@]:0:12}" --onsets 0 --onset-to 400 --width-from 100 --width-to 800 --resolution 2)
"$program" "${small[@]}" --out whole > whole.log
for file in summary.json closed_forms.csv windows.csv courses.csv courses.gnuplot modules.csv modules.gnuplot validity.csv \
  onset_width.gnuplot onset_gamma_linearised.csv; do
  [[ -s whole/$file ]] || fail "$file wasn't written"
  if [[ $file == *.csv ]]; then grep -q "${file/linearised/SYSTEM}" whole.log || fail "$file isn't told of"; fi
done
if command -v gnuplot > /dev/null; then
  for picture in courses modules validity onset_width onset_gamma; do
    [[ -s whole/$picture.png && -s whole/$picture.svg ]] || fail "$picture wasn't drawn"
  done
fi

# Without gnuplot, and where it fails, the program says which pictures are missing. What isn't asked for isn't written, nor
# is it left over.
mkdir tools
printf '#!/bin/sh\n[ "$1" != courses.gnuplot ] && exec "$(command -v -p gnuplot)" "$@"\n' > tools/gnuplot
chmod +x tools/gnuplot
cp -r whole less
PATH=$PWD/tools:$PATH "$program" "${less[@]}" --budget 4 --seeds 0 --starts 0 --force --out less > less.log
grep -q 'validity\|modules' less.log && fail "parts that were left out are told of: $(cat less.log)"
[[ ! -e less/validity.csv && ! -e less/modules.svg ]] || fail "a part that was left out has stayed"
if command -v gnuplot > /dev/null; then
  grep -q 'failed to draw: courses\.' less.log || fail "the picture that failed isn't named: $(cat less.log)"
fi

# Starts that diverge are counted, and are neither extinct nor successes.
for rule in sgd momentum; do
  "$program" "${less[@]}" --budget 0.1 --seeds 0 --starts 8 --module-updates 20 --module-onsets 0 --module-rule $rule \
    --module-lr 4000 --out $rule > $rule.log
  awk -F, '$4 == "diverged" { n++; if ($5 != 1) bad = 1 } $4 != "diverged" && NR > 1 && $5 != 0 { bad = 1 }
    END { exit bad || n != 8 }' $rule/modules.csv || fail "starts that diverge under $rule aren't counted: $(cat $rule/modules.csv)"
done

# Closed forms are what the flow does, and the eight numbers are what all weights do.
awk -F, 'NR > 1 { seen = 1; if ($NF > 1e-6) { print; bad = 1 } } END { exit bad || !seen }' whole/closed_forms.csv ||
  fail "a closed form isn't what the flow does"
awk -F, 'NR > 1 { end[$1, $2] = $5; onset[$1] } END { for (o in onset) { n++; d = end[o, "full"] - end[o, "linearised"]
  if (d > 1e-4 || d < -1e-4) bad = 1 }; exit bad || n != 3 }' whole/courses.csv || fail "the full model isn't its eight numbers"

awk -F, 'NR == 1 { next } $3 > 1e-5 || $4 > 1e-5 { bad = 1 } $1 < 0.15 { small = $6 } { large = $6 }
  END { exit bad || !(small < 0.1 && large > small) }' whole/validity.csv || fail "the reduced system's error isn't that of gamma"

# A run that was interrupted goes on to the same bits, on any number of threads.
cp -r whole parts
rm parts/*.csv
for journal in parts/*.journal; do head -c -60 "$journal" > cut; mv cut "$journal"; done
"$program" "${small[@]}" --threads 1 --resume --out parts > /dev/null
for file in whole/*.csv; do cmp "$file" "parts/${file#whole/}" || fail "$file isn't the same behind a resume"; done

# An interrupt says how to go on.
"$program" --out long > long.log &
until [[ -e long/onset_width_printed.journal ]] || ! kill -0 $! 2> /dev/null; do sleep .01; done
kill -TERM $!
code=0
wait $! || code=$?
[[ $code == 143 ]] && grep -q 'To go on: .*--resume' long.log || fail "an interrupt ended with $code: $(cat long.log)"

# refused WORDS ARGUMENTS..: the program fails and says these words.
refused() {
  local words=$1
  shift
  if "$program" "$@" --out none > /dev/null 2> none.err; then fail "$* is accepted"; fi
  grep -q -- "$words" none.err || fail "$* is refused without '$words': $(cat none.err)"
  [[ ! -e none ]] || fail "$* has written something"
}
refused 'width' --width 3
refused 'decay-mode' --decay-mode none
refused 'reduction' --reduction product
refused 'onsets = 20000' --onsets 20000
refused 'module-lr: has no effect' --starts 0 --module-lr 1
refused 'resolution = 1' --resolution 1
refused 'gamma = -1' --gamma -1
refused 'seed' --seed=-1
mkdir -p other
echo '{}' > other/summary.json
"$program" "${small[@]}" --resume --out other > /dev/null 2> none.err && fail "results without a journal are resumed"
grep -q 'no journal' none.err || fail "results without a journal are refused without a word: $(cat none.err)"
code=0
"$program" "${small[@]}" --out whole 2> none.err > /dev/null || code=$?
[[ $code == 1 ]] && grep -q 'not empty' none.err || fail "a folder with results isn't refused"
"$program" "${small[@]}" --gamma 0.5 --resume --out parts > /dev/null 2> none.err &&
  fail "other options are resumed"
grep -q 'journal' none.err || fail "other options are refused without the journal's name: $(cat none.err)"
