import { existsSync } from "node:fs";
import { posix } from "node:path";
import { expect, test } from "vitest";
import { describeSettings } from "../apps/server/src/roles/config.ts";
import { documentedProxy } from "../apps/server/test/support/documented-proxy.ts";
import { ROOT, readSource, sourceFiles } from "./source-files.ts";

const pages = sourceFiles(".md").filter((path) => !path.includes("/src/"));
const manifests = sourceFiles("package.json").map((path) => ({ path, ...(JSON.parse(readSource(path)) as Manifest) }));

const EXPORTED =
  /^export (?:interface|class|(?:async )?function|const|type \w+ =)|^ {2}(?:async \*?)?(?!constructor)[a-z]\w*\(.*\{$/;

interface Manifest {
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

test("every relative link in the documents has a target", () => {
  const broken = pages.flatMap((page) =>
    [...readSource(page).matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, target = ""]) => target)
      .filter((target) => !/^[a-z]+:/.test(target) && !isThere(page, target))
      .map((target) => `${page}: ${target}`),
  );
  expect(broken).toEqual([]);
});

test("the settings page matches the server's description of its settings", () => {
  expect(readSource("docs/4-operate/settings.md")).toBe(describeSettings());
});

test("docs/dependencies.md lists exactly the direct dependencies", () => {
  const rows = readSource("docs/dependencies.md")
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .flatMap((line) => [...(line.split("|")[1] ?? "").matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name));
  const used = manifests.flatMap(({ dependencies, devDependencies, optionalDependencies }) =>
    Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies }),
  );
  const external = new Set(used.filter((name) => !name.startsWith("@weir/")));
  expect([...new Set(rows)].sort()).toEqual([...external].sort());
});

test("commands in the documents name scripts that exist", () => {
  const scripts = new Set(manifests.flatMap(({ scripts }) => Object.keys(scripts ?? {})));
  const unknown = pages.flatMap((page) =>
    [...readSource(page).matchAll(/\bnpm (?:run ([\w:-]+)|(start|test)\b)/g)]
      .map(([, run, verb]) => run ?? verb ?? "")
      .filter((name) => !scripts.has(name))
      .map((name) => `${page}: npm run ${name}`),
  );
  expect(unknown).toEqual([]);
});

test("settings named in the documents exist", () => {
  // The last is the command line's.
  const known = `${describeSettings()} \`WEIR_URL\``;
  const unknown = pages.flatMap((page) =>
    [...readSource(page).matchAll(/\bWEIR_[A-Z_]+\b/g)]
      .filter(([name]) => !known.includes(`\`${name}\``))
      .map(([name]) => `${page}: ${name}`),
  );
  expect(unknown).toEqual([]);
});

test("every export of the client is documented", () => {
  const client = sourceFiles(".ts").filter(
    (path) => path.startsWith("packages/client/src/") && !path.includes(".test."),
  );
  const bare = client.flatMap((path) => {
    const lines = readSource(path).split("\n");
    return lines
      .filter((line, index) => EXPORTED.test(line) && !lines[index - 1]?.endsWith("*/"))
      .map((line) => `${path}: ${line}`);
  });
  expect(bare).toEqual([]);
});

test("refusals quoted in the documentation match the server's messages", () => {
  const server = sourceFiles(".ts")
    .filter((path) => path.startsWith("apps/server/src/media/") && !path.endsWith(".test.ts"))
    .map(readSource)
    .join("\n");
  const quoted = [...readSource("docs/2-publish/README.md").matchAll(/“([^”]+)”/g)].map(([, words = ""]) => words);
  expect(quoted.length).toBeGreaterThan(10);
  expect(quoted.filter((words) => !server.includes(words))).toEqual([]);
});

test("the nginx block of Behind a proxy is the part of deploy/nginx/weir.conf that any proxy needs", () => {
  const shipped = readSource("deploy/nginx/weir.conf");
  const [upstream] = /^upstream weir \{\n[^}]*\}\n/m.exec(shipped) ?? [];
  const [, part] = / # From here to the end of the next location: .*\n([\s\S]*?^ {4}\}\n)/m.exec(shipped) ?? [];
  expect([upstream, part]).toEqual([expect.any(String), expect.stringContaining("client_max_body_size 0;")]);
  const block = documentedProxy();
  expect(block).toContain(upstream);
  expect(/ssl_certificate_key .*\n\n([\s\S]*)\}\n$/.exec(block)?.[1]).toBe(part);
});

test("the container that the documents run has the ports and the folder of the container file", () => {
  const file = readSource("deploy/container/Containerfile");
  const page = readSource("docs/4-operate/container.md");
  const [, run = ""] = /^podman run ([\s\S]*?)\n```$/m.exec(page) ?? [];
  const published = [...run.matchAll(/--publish (\d+):(\S+)/g)].map(([, host, port = ""]) => ({ host, port }));
  expect(published.map(({ port }) => port)).toEqual(/^EXPOSE (.*)$/m.exec(file)?.[1]?.split(" "));
  expect(published.map(({ host }) => host)).toEqual(published.map(({ port }) => port.replace("/udp", "")));
  expect(/--volume weir-data:(\S+)/.exec(run)?.[1]).toBe(/^VOLUME (\S+)$/m.exec(file)?.[1]);
});

function isThere(page: string, link: string): boolean {
  const [path = "", anchor] = link.split("#");
  const target = path === "" ? page : posix.join(posix.dirname(page), path);
  if (!existsSync(`${ROOT}/${target}`)) return false;
  return anchor === undefined || headings(target).has(anchor);
}

/** Anchors of a page's headings, by GitHub's rules. */
function headings(page: string): Set<string> {
  const lines = readSource(page)
    .split("\n")
    .filter((line) => line.startsWith("#"));
  return new Set(
    lines.map((line) =>
      line
        .replace(/^#+\s*/, "")
        .toLowerCase()
        .replace(/[^\w\s-]/g, "")
        .replaceAll(" ", "-"),
    ),
  );
}

test("no sentence begins with a bare who, whoever, whom, whose, what or that", () => {
  const bare = /(?:^|[.:;] |\| |^- )(?:Who|Whoever|Whom|Whose|What|That) [a-z][^.|\n]*/gm;
  const found = pages
    .filter((page) => !page.startsWith("docs/decisions/"))
    .flatMap((page) => [...prose(page).matchAll(bare)].map(([sentence]) => `${page}: ${sentence.trim()}`))
    .filter((sentence) => !sentence.endsWith("?"));
  expect(found).toEqual([]);
});

/** The page without its code blocks. */
function prose(page: string): string {
  return readSource(page).replace(/^ *```[\s\S]*?^ *```/gm, "");
}

test("alerts for Prometheus are about metrics that the metrics page explains", () => {
  const page = readSource("docs/4-operate/metrics.md");
  const used = new Set(readSource("deploy/prometheus/weir-alerts.yml").match(/\bweir_[a-z0-9_]+/g));
  expect(used.size).toBeGreaterThan(5);
  expect([...used].filter((metric) => !page.includes(metric))).toEqual([]);
});
