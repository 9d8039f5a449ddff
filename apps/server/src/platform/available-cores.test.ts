import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { availableCores } from "./available-cores.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "weir-cores-"));
});
afterEach(() => rmSync(root, { recursive: true }));

function write(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
}

test("a container with a quota has what the quota gives", () => {
  write({ "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "50000 100000\n" });
  expect(availableCores(root)).toBe(0.5);
});

test("of a service and the slice above it, the tighter quota counts", () => {
  write({
    "proc/self/cgroup": "1:name=systemd:/x\n0::/video.slice/weir.service\n",
    "sys/fs/cgroup/video.slice/cpu.max": "25000 100000\n",
    "sys/fs/cgroup/video.slice/weir.service/cpu.max": "75000 100000\n",
  });
  expect(availableCores(root)).toBe(0.25);
});

test.each([
  ["without a quota", { "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "max 100000\n" }],
  ["with a quota above what is there", { "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "99900000 100000\n" }],
  ["without cgroups of version 2", { "proc/self/cgroup": "4:memory:/x\n" }],
  ["that is no Linux", {}],
])("a machine %s has its own cores", (_, files) => {
  write(files);
  expect(availableCores(root)).toBe(availableParallelism());
});
