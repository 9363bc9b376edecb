# Run by `make probe`: the whole story on the miniature engine. Audit, plan, experiments on a simulated GPU, evidence back into the report.
set -u
out=out/probe
mkdir -p "$out"
"$BIN/bufgate" check fixtures/engine -o "json:$out/report.json" --fail-on never || exit 2
"$BIN/bufgate" probe plan "$out/report.json" -o "$out/plan.json" || exit 2
rm -f "$out/evidence.json"
"$BIN/bufgate" probe run "$out/plan.json" --tree fixtures/engine --execute -o "$out/evidence.json"
[ -f "$out/evidence.json" ] || exit 2
"$BIN/bufgate" probe merge "$out/report.json" "$out/evidence.json" -o "$out/probed.json" --html "$out/probed.html" --tree fixtures/engine || exit 2
echo "report with labels and timelines: $out/probed.html; as report-v1: $out/probed.json; evidence: $out/evidence.json"
