#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# rejects.sh REFERENCE_CHECK FOLDER: passes if the program accepts the reference files of FOLDER, and rejects what it has
# to: changed values, unknown kinds, incomplete and broken files, and paths without files.
set -uo pipefail
program=$1
data=$2
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
failures=0

# expect CODE SENTENCE PATH..: the program exits with CODE and prints SENTENCE.
expect() {
  local output code
  output=$("$program" "${@:3}")
  code=$?
  if (( code != $1 )) || ! grep -qF -- "$2" <<< "$output"; then
    printf 'expected exit %s and "%s", got exit %s and:\n%s\n' "$1" "$2" "$code" "$output"
    failures=$((failures + 1))
  fi
}

# changed FILE SED..: a changed copy of a reference file; a file that doesn't exist if nothing was changed.
changed() {
  sed "${@:2}" "$data/$1" > "$work/changed.json"
  cmp -s "$work/changed.json" "$data/$1" && echo "$work/unchanged.json" || echo "$work/changed.json"
}

expect 0 "PASS $data/attention_only_1head.json" "$data"
expect 0 "confinement_ring.json" "$data/confinement_ring.json" "$data/attention_only_3layer.json"

# Values that are wrong in the ninth digit, or in the twelfth.
attention=attention_only_1head.json
expect 1 "loss 4e-09 (above 1e-09)" "$(changed $attention 's/"loss": 2.500922391/"loss": 2.500922401/')"
expect 0 "loss 4e-12" "$(changed $attention 's/"loss": 2.500922391079/"loss": 2.500922391089/')"
# The first number of an array.
first() { echo "s/\(\"$1\": {\"shape\": \[[0-9, ]*\], \"data\": \[\)[^,]*/\19/${2:-}"; }
expect 1 "logits" "$(changed $attention "$(first logits)")"
expect 1 "above 1e-09, W_KQ.1.0" "$(changed $attention "$(first W_KQ.1.0 2)")"
expect 1 "above 1e-09, layer 1" "$(changed $attention 's/\("attention": \[{"shape": \[[0-9, ]*\], "data": \[\)1.0/\10.9/')"

confinement=confinement_ring.json
expect 1 "sequences 1 (above 0)" "$(changed $confinement 's/"sequences": 1680/"sequences": 1681/')"
expect 1 "dL_dtheta 1.1 (above 1e-09, W_KQ.0)" "$(changed $confinement 's/"dL_dtheta": \[[^,]*/"dL_dtheta": [0.5/')"
expect 1 "gradient_coordinates" "$(changed $confinement "$(first gradient_coordinates)")"
expect 1 "above 1e-09, W_KQ.0)" "$(changed $confinement 's/"gram_diagonal": \[4/"gram_diagonal": [5/')"
expect 1 "gradient_norm" "$(changed $confinement 's/"gradient_norm": 0.0/"gradient_norm": 0.1/')"
expect 1 "label = 0,0:X" "$(changed $confinement 's/"0,0:I"/"0,0:X"/')"
expect 1 "complete" "$(changed $confinement 's/"0,0:M^5"/"0,0:M^4"/; s/"0,0:M^4", //')"
expect 1 "ring or slots" "$(changed $confinement 's/"position_law": "ring"/"position_law": "line"/')"

transformer=prenorm_small.json
expect 1 "logits" "$(changed $transformer "$(first logits)")"
expect 1 "loss 4" "$(changed $transformer 's/"loss": 2.37602040/"loss": 2.37602041/')"
expect 1 "above 1e-09, blocks.1.mlp.fc2.weight" "$(changed $transformer "$(first blocks.1.mlp.fc2.weight 2)")"
expect 1 "sigma_H_last" "$(changed $transformer 's/"sigma_H_last": 0.024/"sigma_H_last": 0.025/')"
expect 1 "above 1e-09" "$(changed $transformer 's/"activation": "gelu"/"activation": "relu"/')"
expect 1 "gelu or relu" "$(changed $transformer 's/"activation": "gelu"/"activation": "tanh"/')"
expect 1 "shape.width" "$(changed $transformer 's/"heads": 2/"heads": 3/')"

# A trajectory names the file of its network, which lies beside it.
trajectory=prenorm_small.optim.json
beside="s|\"model\": \"|&$data/|"
expect 0 "adamw.lr_scaled losses" "$(changed $trajectory "$beside")"
expect 1 "cannot read $work/prenorm_small.json" "$(changed $trajectory 's/"eps": 1e-08/"eps": 1e-8/')"
expect 1 "adamw.lr_scaled losses" "$(changed $trajectory "$beside; s/\"window\": \[2,/\"window\": [3,/")"
expect 1 "above 1e-09, tok_emb" "$(changed $trajectory "$beside; s/, \"tok_emb\"\]/]/")"
expect 1 "above 1e-09, blocks.0.ln1.weight" "$(changed $trajectory "$beside; $(first blocks.0.ln1.weight)")"
expect 1 "decay.mode = l2" "$(changed $trajectory "$beside; s/adamw.coupled_l2/adamw.l2/")"
expect 1 "adamw or sgd" "$(changed $trajectory "$beside; s/adamw.coupled_l2/adam.coupled_l2/")"

# Kinds and files that can't be checked.
expect 1 "one of attention_only confinement" "$(changed $attention 's/"kind": "attention_only"/"kind": "unheard_of"/')"
expect 1 "nothing to compare" "$(changed $attention 's/"expected": {.*/"expected": {}}/')"
expect 1 "W_out" "$(changed $attention 's/"W_out": /"W_in": /g')"
head -c 3000 "$data/$attention" > "$work/changed.json"
expect 1 "cannot read" "$work/changed.json"
expect 1 "cannot read" "$work/absent.json"
rm "$work/changed.json"
expect 1 "no *.json" "$work"
expect 2 "" 2> /dev/null

# One bad file among good ones fails, and the good ones are still checked.
expect 1 "PASS $data/$confinement" "$work" "$data"

exit $(( failures > 0 ))
