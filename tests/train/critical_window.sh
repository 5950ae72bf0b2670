#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# critical_window.sh PROGRAM: the example critical_window at a tiny size. It is skipped where the example isn't built.
. "$(dirname "${BASH_SOURCE[0]}")/../example.sh"
quick=("$program" --quick --seeds 1)

"${quick[@]}" --only sgd,map --out whole > whole.log
for file in runs.csv summary.json sgd.csv sgd.gnuplot map.gnuplot; do
  [[ -s whole/$file ]] || fail "$file wasn't written"
done
if command -v gnuplot > /dev/null; then
  for picture in sgd map; do [[ -s whole/$picture.svg ]] || fail "$picture.svg wasn't drawn"; done
fi
[[ $(grep -c '^sgd,window,' whole/runs.csv) == 9 ]] || fail "there aren't 3 modes x 3 onsets in runs.csv"
[[ $(grep -c '^map,' whole/runs.csv) == 24 ]] || fail "there aren't 6 onsets x 4 widths in runs.csv"

# What is missing is made, on two threads and without those that it shared its past with, to the same bits.
cp -r whole parts
mapfile -t records < <(printf '%s\n' parts/runs/*.csv | sed -n '1~3p')
rm "${records[@]}"
"$program" --quick --seeds 1 --only sgd,map --list --out parts > list.log
(( $(awk '/^(sgd|map) / { sum += $3 } END { print sum }' list.log) == ${#records[@]} )) ||
  fail "--list doesn't say what is missing: $(cat list.log)"
"${quick[@]}" --only sgd,map --threads 2 --out parts > parts.log
diff -r whole/runs parts/runs || fail "runs aren't the same when some are made later"
cmp whole/runs.csv parts/runs.csv || fail "runs.csv isn't the same when some are made later"

# An experiment of its own joins what is there.
"${quick[@]}" --only basin --out whole > basin.log
[[ $(grep -c '^basin,' whole/runs.csv) == 4 && $(grep -c '^sgd,' whole/runs.csv) == 13 ]] ||
  fail "runs.csv doesn't have all experiments"
grep -q '"basin"' whole/summary.json && grep -q '"sgd"' whole/summary.json || fail "an experiment left the summary"

# The causes: parts of the network are followed and decay by themselves.
"${quick[@]}" --only causes --threads 2 --out causes > causes.log
(( $(grep -c '^causes,' causes/runs.csv) == $(grep -c ' accuracy ' causes.log) )) || fail "causes aren't all in runs.csv"
[[ $(grep -c '^coupled_l2,0,1,.*,perceptron 2,' causes/drives.csv) == 6 ]] || fail "drives.csv lacks rows"
figures_of() { grep "$1" causes/runs.csv | cut -d, -f13-20; }  # from the accuracy to the step of divergence
early=$(figures_of ',early: perceptron 2,') late=$(figures_of '^causes,window,coupled_l2,4,')
[[ -n $early && -n $late && $early != "$late" ]] || fail "a part that decays early makes no difference: $early, $late"

# The drives are made again where they are missing alone, and drives.csv fits them.
mv causes/drives.csv drives.csv
rm "$(printf '%s\n' causes/drives/*.csv | head -1)"
echo nonsense > causes/drives.csv
"${quick[@]}" --only causes --out causes > causes.log
cmp drives.csv causes/drives.csv || fail "drives.csv isn't the same when it is made again"

# A record that has no end is made again; one that can't be read is named, left alone, and doesn't keep others from it.
cp -r whole damaged
mapfile -t records < <(printf '%s\n' damaged/runs/*.csv)
printf '%s\n' "$(head -1 "${records[0]}")" > "${records[0]}"
printf '%s\n' "$(head -3 "${records[1]}")" > "${records[1]}"
"${quick[@]}" --only sgd,map,basin --out damaged > damaged.log
diff -r whole/runs damaged/runs || fail "a record that is cut isn't made again"
cmp whole/runs.csv damaged/runs.csv || fail "a record that is cut leaves runs.csv other than it was"
printf '%s\n' "$(head -3 "${records[0]}")" | head -c -5 > cut
cp cut "${records[0]}"
rm "${records[1]}"
code=0
"${quick[@]}" --only sgd,map,basin --out damaged > damaged.log 2> damaged.err || code=$?
[[ $code == 1 ]] || fail "a damaged record ended with $code"
grep -q "${records[0]}.*remove it" damaged.err || fail "a damaged record isn't named: $(cat damaged.err)"
cmp cut "${records[0]}" || fail "a damaged record was overwritten"
cmp "whole/runs/$(basename "${records[1]}")" "${records[1]}" || fail "a damaged record kept another from being made"

# Two programs at once write into one folder; parts of files of one that was killed long ago are removed.
"${quick[@]}" --only sgd --out two > two.log &
"${quick[@]}" --only basin --out two > basin.log
wait $!
[[ $(grep -c '^sgd,' two/runs.csv) == 13 ]] && grep -q '"basin"' two/summary.json && grep -q '"sgd"' two/summary.json ||
  fail "two programs at once don't write what both have made"
touch -d '2 hours ago' two/runs.csv.partial-1-2
touch two/runs/new.csv.partial-1-2
"${quick[@]}" --only basin --out two > basin.log
[[ ! -e two/runs.csv.partial-1-2 && -e two/runs/new.csv.partial-1-2 ]] || fail "old parts alone are to be removed"

# A report has all that is finished, whatever number of seeds is asked for, and makes nothing.
"$program" --quick --seeds 2 --only sgd --out parts > parts.log
rm "$(printf '%s\n' parts/runs/*.csv | head -1)"
finished=$(printf '%s\n' parts/runs/*.csv | wc -l)
"$program" --quick --report --only sgd --seeds 1 --out parts > report.log
(( $(printf '%s\n' parts/runs/*.csv | wc -l) == finished )) || fail "a report has made what was missing"
(( $(tail -n +2 parts/runs.csv | cut -d, -f21 | sort -u | wc -l) == finished )) ||
  fail "a report doesn't have all that is finished"

# train_transformer repeats a run.
transformer=$(dirname "$program")/train_transformer
if [[ -x $transformer ]]; then
  run=$(grep '^map,window,coupled_l2,4,5,' whole/runs.csv | sed 's/,$//; s/.*,//')
  "$transformer" --config "whole/runs/$run.json" --out again > again.log
  cmp <(cut -d, -f1-5 "whole/runs/$run.csv") <(cut -d, -f1,3,6,7,10 again/metrics.csv) ||
    fail "train_transformer doesn't repeat run $run"
fi

# An interrupt ends a sweep, which says so; nothing half is left.
"$program" --only layers --out long > long.log &
until grep -q '^layers' long.log || ! kill -0 $!; do sleep .01; done
kill -INT $! 2> /dev/null || kill -TERM $!
sleep .05
kill -TERM $! 2> /dev/null || true  # a shell without job control lets what is in the background ignore the former
code=0
wait $! || code=$?
[[ $code == 143 || $code == 130 ]] || fail "an interrupt ended with $code: $(cat long.log)"
grep -q 'Interrupted' long.log || fail "an interrupt isn't told of"
[[ -z $(ls long/runs) ]] || fail "an interrupted run left something"

refused() {
  local words=$1 code=0
  shift
  "$program" "$@" --out none > none.log 2> none.err || code=$?
  [[ $code != 0 ]] || fail "$* isn't refused"
  grep -q -- "$words" none.err || fail "$* is refused without '$words': $(cat none.err)"
  [[ ! -e none ]] || fail "$* has written something"
}
refused 'only' --only colour
refused 'seeds' --seeds=-1
refused 'threads' --threads 0
refused 'no finished trainings' --report
mkdir other
echo '[]' > other/summary.json
"${quick[@]}" --only basin --out other 2> other.err > /dev/null && fail "another program's summary isn't refused"
grep -q 'no summary of experiments' other.err || fail "another program's summary is refused without a word"
echo '{"basin": {"cpu_seconds": "long"}}' > other/summary.json
"${quick[@]}" --only basin --out other 2> other.err > /dev/null && fail "another program's summary isn't refused"
grep -q 'no summary of experiments' other.err || fail "another program's summary is refused without a word"
[[ ! -e other/runs ]] || fail "a folder that is refused was changed"
rm -r other/*
echo 'theirs' > other/runs.csv
"${quick[@]}" --only basin --out other 2> other.err > /dev/null && fail "another program's runs.csv isn't refused"
grep -q "isn't of this program" other.err || fail "another program's runs.csv is refused without a word"
[[ $(< other/runs.csv) == theirs ]] || fail "another program's runs.csv was overwritten"
cp whole/runs.csv quick.csv
"$program" --report --only basin --out whole 2> other.err > /dev/null && fail "whole experiments join quick ones"
grep -q 'is of --quick' other.err || fail "whole experiments are kept from quick ones without a word"
cmp quick.csv whole/runs.csv || fail "a report that is refused has changed runs.csv"
rm -r other/*
touch other/runs
"${quick[@]}" --only basin --out other 2> other.err > /dev/null && fail "a file in place of a folder isn't refused"
grep -q 'cannot write into other/runs' other.err || fail "a file in place of a folder is refused without a word"
