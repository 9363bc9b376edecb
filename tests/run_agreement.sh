# Run by `make agreement`: every claim of the report of a release on a simulated GPU, and where audit and probe disagree. Executes code of the
# release. Takes minutes.
set -u
out=out/agreement
mkdir -p "$out"
tree=$("$BIN/python" -c "import sys; from auditor.source import fetch_release; print(fetch_release(sys.argv[1]))" "$RELEASE") || exit 2
rm -f "$out/report.json"
"$BIN/bufgate" check --release "$RELEASE" -o "json:$out/report.json" --fail-on never
[ -f "$out/report.json" ] || exit 2
"$BIN/bufgate" probe plan "$out/report.json" -o "$out/plan.json" || exit 2
rm -f "$out/evidence.json"
"$BIN/bufgate" probe run "$out/plan.json" --tree "$tree" --execute -o "$out/evidence.json" 2>"$out/run.txt"
[ -f "$out/evidence.json" ] || exit 2
"$BIN/bufgate" probe merge "$out/report.json" "$out/evidence.json" -o "$out/probed.json" --html "$out/probed.html" --tree "$tree"
