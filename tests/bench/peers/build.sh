#!/usr/bin/env bash
# build.sh OUT: compiles the peers into OUT/classes against the jars of scripts/kafka. Needs a JDK 17
# (and Maven when the jars are not there yet). Prints the folder of the jars.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${1:?usage: build.sh OUT}
jars=$("$here/../../../scripts/kafka" jars)
mkdir -p "$out/classes"
if [ ! -f "$out/classes/Tool.class" ] || [ "$here/Tool.java" -nt "$out/classes/Tool.class" ] ||
    [ "$here/ReplaceUsing.java" -nt "$out/classes/Tool.class" ]; then
    javac -cp "$jars/*" -d "$out/classes" "$here/Tool.java" "$here/ReplaceUsing.java"
fi
echo "$jars"
