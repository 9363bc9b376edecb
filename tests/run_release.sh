#!/bin/sh
# Behind `make run`: audit a release from PyPI; when PyPI cannot be reached, audit the miniature engine and say so.
# Ends with 0 whether there are findings or not: findings are what was asked for. 2 (could not do it) stays 2.
set -u
mkdir -p out

audit() {
    "$BIN/bufgate" check "$@" -o text -o json:out/report.json -o html:out/report.html
}

fetched() {
    "$BIN/python" -c 'import sys; from auditor.source import release_folder; sys.exit(not release_folder(sys.argv[1]))' "$RELEASE"
}

reachable() {
    "$BIN/python" -m pip download -q --no-deps --no-cache-dir --retries=1 --timeout=20 -d out/reachable click >/dev/null 2>&1
}

status=0
audit --release "$RELEASE" || status=$?
if [ "$status" -ge 2 ] && ! fetched && ! reachable; then
    echo
    echo "PyPI cannot be reached, so $RELEASE could not be fetched: auditing the miniature engine in fixtures/engine instead."
    echo
    status=0
    audit fixtures/engine || status=$?
fi
rm -rf out/reachable
[ "$status" -ge 2 ] && exit "$status"
echo
echo "The whole report is in out/report.html, for programs in out/report.json."
