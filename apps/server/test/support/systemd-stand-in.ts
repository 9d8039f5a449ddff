import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Commands of a Linux server, for a machine that has no running systemd, and for a test that installs nothing on its own machine. */
const COMMANDS = {
  systemctl: `case "$*" in
  "enable --now weir" | "start weir")
    (set -a; . "$ROOT/etc/weir.env"; exec "$ROOT/opt/weir/bin/weir" start) >> "$ROOT/weir.log" 2>&1 &
    echo $! > "$ROOT/weir.pid" ;;
  "stop weir")
    kill "$(cat "$ROOT/weir.pid")"
    while kill -0 "$(cat "$ROOT/weir.pid")" 2>/dev/null; do sleep 0.1; done ;;
  "reload caddy")
    caddy run --config "$ROOT/etc/caddy/Caddyfile" >> "$ROOT/caddy.log" 2>&1 &
    echo $! > "$ROOT/caddy.pid" ;;
  *) echo "systemctl $*: not in the guide" >&2; exit 1 ;;
esac`,
  journalctl: `[ "$*" = "-u weir" ] && cat "$ROOT/weir.log"`,
  "systemd-run": `while :; do case "$1" in
  --property=EnvironmentFile=*) file=\${1#--property=EnvironmentFile=}; shift ;;
  --pty | --pipe | --wait | --uid=weir) shift ;;
  *) break ;;
esac; done
set -a; . "$file"; exec "$@"`,
  npm: `[ "$*" = "ci --omit=dev" ]
ln -s "$REPOSITORY/node_modules" node_modules
ln -s "$REPOSITORY/apps/server/node_modules" apps/server/node_modules`,
  install: `[ "$1 $2 $3 $4 $5" = "-d -o weir -m 700" ] && mkdir -p "$6" && chmod 700 "$6"`,
  useradd: "exit 0",
  apt: "exit 0",
};

/** Folder with the commands, for the beginning of `PATH`. They work below `root`, and "install" the packages of the repository. */
export function systemdStandIn(root: string, repository: string): string {
  const folder = join(root, "commands");
  mkdirSync(folder);
  for (const [name, body] of Object.entries(COMMANDS)) {
    const file = join(folder, name);
    writeFileSync(file, `#!/bin/bash\nset -e\nROOT=${root}\nREPOSITORY=${repository}\n${body}\n`);
    chmodSync(file, 0o755);
  }
  return folder;
}
