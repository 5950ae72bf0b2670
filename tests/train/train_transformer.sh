#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# train_transformer.sh PROGRAM: the example train_transformer at a tiny size. It is skipped where the example isn't built.
. "$(dirname "${BASH_SOURCE[0]}")/../example.sh"

cat > small.json << 'JSON'
{"keys": 4, "anchors": 3, "training_pairs": 6, "width": 16, "hidden": 16, "layers": 2, "batch": 8,
 "decay": "window(3, 9, 0.01)", "decay-mode": "coupled_l2", "evaluate_every": 4, "observe": "all", "observe_every": 2}
JSON

# Stopped in the midst of the window and resumed on two threads, a run ends with the same bits.
"$program" --config small.json --steps 12 --out whole > whole.log
"$program" --config small.json --steps 4 --out parts > /dev/null
"$program" --resume --steps 12 --threads 2 --out parts > /dev/null
for file in metrics.csv observations.csv weights.safetensors; do
  cmp "whole/$file" "parts/$file" || fail "$file isn't the same behind a resume"
done
for file in summary.json configuration.json checkpoint.json training.gnuplot training.csv test.csv; do
  [[ -s whole/$file ]] || fail "$file wasn't written"
done
grep -q '"split_seed": 1' whole/summary.json || fail "the summary has no split seed"
grep -q '"warnings": \[\]' whole/summary.json || fail "there are warnings"

[[ $(wc -l < whole/training.csv) == 25 && $(head -1 whole/test.csv) == token_0,token_1,token_2,answer ]] ||
  fail "the data aren't the 24 sequences of training, and those of test"
head -1 whole/observations.csv | grep -q 'batch_s_bar.*test_margin_min' || fail "observations don't say of what they are"

# While a process has the folder, no other may use it; what is behind a resume isn't the result of an earlier end.
code=0
flock parts/lock "$program" --resume --out parts 2> none.err > /dev/null || code=$?
[[ $code == 2 ]] && grep -q 'parts is in use by another process' none.err || fail "a folder in use isn't refused"
cp -r parts ended
"$program" --resume --steps 1000000 --checkpoint-every 1 --decay 'window(3,9,0.01)' --observe ' all' --out ended > more.log &
for ((tries = 0; tries < 1000; ++tries)); do [[ -e ended/summary.json ]] || break; sleep .01; done
kill -TERM $!
wait $! && fail "an interrupt doesn't end a run"
[[ ! -e ended/weights.safetensors ]] || fail "the weights of the earlier end stay beside another state"

# A run that ends early has the budget of the steps that it made.
"$program" --config small.json --decay .001 --decay-mode lr_scaled --steps 3000 --stop --reached 0 --out early > early.log
grep -q '"budget_decay": 0.0,' early/summary.json || fail "a run that ends at once has spent a budget"

# What a run wrote is a configuration; options win over it.
"$program" --config whole/configuration.json --observe norms --steps 5 --out again > again.log
grep -q 'WARNING.*window(3, 9, 0.01) goes on behind' again.log || fail "a window past the end isn't warned of"

# Of the unseen pair of anchor shift there are three scores, which add up to 1.
tiny=(--layers 1 --heads 1 --width 8 --hidden 8)
"$program" --preset anchor_shift "${tiny[@]}" --per-pair 20 --test-per-pair 20 --steps 4 --out shift > shift.log
[[ $(head -1 shift/metrics.csv) == *,seen_accuracy,test_inferential,test_symmetric,test_other ]] ||
  fail "metrics of anchor shift lack its scores"
awk -F, 'NR > 1 && ($14 + $15 + $16 - 1)^2 > 1e-12 { exit 1 }' shift/metrics.csv || fail "the scores don't add up to 1"

# What the network writes itself matches where the answers do that it gives while it reads what is expected.
"$program" --preset scan "${tiny[@]}" --lr .01 --steps 60 --evaluate test --reached .0001 --out scan > scan.log
[[ $(wc -l < scan/decoded.csv) == 7707 ]] || fail "not all of SCAN's test commands are decoded"
grep -q '^jump twice,I_JUMP I_JUMP <end>,' scan/decoded.csv || fail "decoded.csv doesn't say what is expected"
share() { sed -n "s/^  \"$1\": \(.*\),$/\1/p" scan/summary.json; }
[[ $(share test_exact_match) == "$(share test_decoded_exact_match)" ]] || fail "decoding matches others than evaluation"
[[ $(share training_exact_match) == null ]] || fail "there are values of training with --evaluate test"

# Bad input is refused with a sentence that names it, and leaves nothing.
refused() {
  local words=$1 code=0
  shift
  "$program" "$@" --out none > none.log 2> none.err || code=$?
  [[ $code == 2 ]] || fail "$* ended with $code"
  grep -q -- "$words" none.err || fail "$* is refused without '$words': $(cat none.err)"
  [[ ! -e none ]] || fail "$* has written something"
}
echo '{"lerning": 1}' > unknown.json
echo '{"heads": "two"}' > type.json
echo '{"heads"' > broken.json
echo '{"width": 16, "width": 32}' > twice.json
echo '{"epochs": 2, "steps": 10}' > both.json
refused 'lerning = 1' --config unknown.json
refused 'heads = "two"' --config type.json
refused 'broken.json' --config broken.json
refused 'absent.json' --config absent.json
refused 'two members "width"' --config twice.json
refused 'beside epochs = 2' --config both.json
refused 'a summary' --config whole/summary.json
refused '9223372036854775808000' --steps 9223372036854775808000
refused 'seed.*integer' --seed 18446744073709551616
refused 'keys' --keys 2000000000
refused 'layers' --layers 100000
refused 'modulus' --task modular_arithmetic --modulus 10000
refused 'MiB' --width 262144 --hidden 1
refused 'batch = 0' --batch 0
refused 'most_outputs = 48' --task scan --most-outputs 48
refused 'causal' --preset scan --no-causal
refused 'per-pair has no effect' --per-pair 3
refused 'split-seed has no effect' --task scan --split-seed 3
refused 'per_pair = 0' --task anchor_shift --per-pair 0
refused 'frequencies' --task scan --observe frequencies
refused 'tied-head' --task modular_arithmetic --tied-head
refused 'bogus' --bogus 1
refused 'divisible by' --heads 3
refused 'prime' --task modular_arithmetic --operation divide --modulus 9
refused 'share' --task modular_arithmetic --share 1
refused 'decay' --decay=-1
refused 'decay' --decay 'window(1'
refused 'observe = foo' --observe foo
refused 'steps' --steps 0
refused 'beta1' --optimizer sgd --beta1 .5
refused 'configuration.json' --resume
refused 'lr = 0' --lr 0
code=0
"$program" --config small.json --steps 1 --out whole 2> none.err || code=$?
[[ $code == 2 ]] && grep -q 'not empty' none.err || fail "a folder with results isn't refused"
code=0
"$program" --resume --width 32 --out whole 2> none.err || code=$?
[[ $code == 2 ]] && grep -q 'width = 32' none.err || fail "another width isn't refused"
sed -i 's/"gamma": 0.8/"gamma": 0.5/' again/configuration.json
"$program" --resume --out again 2> none.err > /dev/null && fail "another start isn't refused"
grep -q 'gamma' none.err || fail "another start is refused without its name"
cmp whole/weights.safetensors parts/weights.safetensors || fail "a refused run has changed a result"
