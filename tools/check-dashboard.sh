#!/bin/sh
# Compares the dashboard with the types that Grafana publishes on npm, which say what each member may be: check-dashboard.sh FOLDER
# A member that they do not have is an error, too. Grafana itself is in no registry of packages.
# Exits with 77 where npm cannot install them; FOLDER/log says more.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
cd "$1"
[ -d node_modules/typescript ] || npm install --no-audit --no-fund --ignore-scripts @grafana/schema@13.2.3 typescript@5 >log 2>&1 || {
    echo "check-dashboard.sh: skipped: Grafana's types cannot be installed here (is there a network, and npm?): $PWD/log" >&2
    exit 77
}
python3 - "$source/packaging/grafana/gpu-tracker.json" >check.ts <<'X'
import json
import sys

OF_PANELS = {"timeseries": "timeseries/panelcfg", "stat": "stat/panelcfg"}
print('import type * as Grafana from "./node_modules/@grafana/schema/dist/types/raw/dashboard/x/types.gen";')
for panel, path in OF_PANELS.items():
    print(f'import type * as {panel} from "./node_modules/@grafana/schema/dist/types/raw/composable/{path}/x/types.gen";')
# An enumeration of the types is a plain word in JSON.
print("type Plain<T> = T extends string ? `${T}` : T extends (infer U)[] ? Plain<U>[] : T extends object ? {[K in keyof T]: Plain<T[K]>} : T;")
dashboard = json.load(open(sys.argv[1]))
for number, panel in enumerate(dashboard.pop("panels")):
    options, custom = panel.pop("options"), panel["fieldConfig"]["defaults"].pop("custom", {})
    print(f"const panel{number}: Plain<Grafana.Panel> = {json.dumps(panel)};")
    print(f"const options{number}: Plain<Partial<{panel['type']}.Options>> = {json.dumps(options)};")
    if custom:
        print(f"const custom{number}: Plain<Partial<{panel['type']}.FieldConfig>> = {json.dumps(custom)};")
print(f"const dashboard: Plain<Omit<Grafana.Dashboard, 'panels'>> = {json.dumps(dashboard)};")
X
node_modules/.bin/tsc --strict --noEmit --skipLibCheck --target es2022 --module esnext --moduleResolution bundler --moduleDetection force \
    check.ts
echo "The dashboard has Grafana's types."
