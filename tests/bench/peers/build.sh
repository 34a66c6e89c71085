#!/usr/bin/env bash
# build.sh OUT: compiles the peer into OUT/classes against the jars of scripts/kafka. Needs a JDK 17
# (and Maven when the jars are not there yet). Prints the folder of the jars.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${1:?usage: build.sh OUT}
jars=$("$here/../../../scripts/kafka" jars)
mkdir -p "$out/classes"
if [ "$here/ReplaceUsing.java" -nt "$out/classes/ReplaceUsing.class" ]; then
    javac -cp "$jars/*" -d "$out/classes" "$here/ReplaceUsing.java" >&2
fi
echo "$jars"
