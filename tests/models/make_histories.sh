#!/usr/bin/env bash
# usage: make_histories.sh OUT.yaml [SEED [COUNT]]
# Random REPLACE USING histories of the model as one scenario file, without those whose query
# explodes rows (generators are not built yet). Seed 1, 420 histories (307 remain) unless told.
set -euo pipefail
out=$1
seed=${2:-1}
count=${3:-420}
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

python3 "$here/replace_using_model.py" --seed "$seed" --count "$count" --out "$dir/all" >/dev/null
python3 - "$dir/all" <<'P'
import json, pathlib, shutil, sys
for case in pathlib.Path(sys.argv[1]).glob("*/case.json"):
    if json.loads(case.read_text())["query"] == "explode":
        shutil.rmtree(case.parent)
P
python3 "$here/to_scenarios.py" "$dir/all" --out "$out"
