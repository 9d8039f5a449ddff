import { posix } from "node:path";
import { expect, test } from "vitest";
import { type Area, areaOf, readArrows } from "./arrows.ts";
import { importsOf, isTest, ROOT, readSource, sourceFiles } from "./source-files.ts";

const areas = readArrows();
const modules = sourceFiles(".ts", ".tsx");
const imports = new Map(modules.map((module) => [module, importsOf(module)]));

const isOurs = (name: string) => /^(packages|apps|tools)\//.test(name);
const isProduct = ({ path }: Area) => /^(apps\/[^/]+\/src\/|packages\/)/.test(path);
const PORTS = "apps/server/src/ports/";
const MEDIA = "apps/server/src/media/";
/** `@scope/name` or `name` of an npm import. */
const packageOf = (name: string) => /^(@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name;
const edges = modules.flatMap((from) => (imports.get(from) ?? []).map((to) => ({ from, to })));

test("every module belongs to an area of ARCHITECTURE.md, and every area exists", () => {
  expect(modules.filter((module) => !areaOf(areas, module))).toEqual([]);
  const used = new Set(modules.map((module) => areaOf(areas, module)));
  expect(areas.filter((area) => !used.has(area)).map(({ name }) => name)).toEqual([]);
});

test("imports follow the arrows of ARCHITECTURE.md", () => {
  const wrong = edges.filter(({ from, to }) => {
    const area = areaOf(areas, from);
    return area !== undefined && !isAllowed(area, isTest(from), to);
  });
  expect(wrong.map(show)).toEqual([]);
});

test("every arrow is in use", () => {
  const used = new Set(edges.map(({ from, to }) => `${areaOf(areas, from)?.name} -> ${nameOf(to)}`));
  const arrows = areas.filter(isProduct).flatMap(({ name, allows }) => [...allows].map((to) => `${name} -> ${to}`));
  // `npm` is any package.
  expect(arrows.filter((arrow) => !used.has(arrow) && !arrow.endsWith("-> npm"))).toEqual([]);
});

test("a floor, another domain and a port are imported through their index.ts only", () => {
  const wrong = edges.filter(({ from, to }) => {
    if (!isOurs(to) || to.endsWith("/index.ts") || isTest(from)) return false;
    if (to.startsWith(PORTS)) return !from.startsWith(PORTS);
    if (from.startsWith("apps/server/src/roles/")) return /src\/(domains|media)\/(?!settings\.ts)/.test(to);
    const domain = domainOf(to);
    return domain !== null && domainOf(from) !== null && domainOf(from) !== domain;
  });
  expect(wrong.map(show)).toEqual([]);
});

test("every process of the media floor is started by piped-child.ts", () => {
  const wrong = edges.filter(({ from, to }) => to === "node:child_process" && from.startsWith(MEDIA) && !isTest(from));
  expect(wrong.map(show)).toEqual([]);
});

test("the arrows have no cycle", () => {
  expect(findCycle(new Map(areas.map(({ name, allows }) => [name, [...allows]])))).toBe(null);
});

test("module imports have no cycle", () => {
  expect(findCycle(imports)).toBe(null);
});

test("folders beside each other in an area have no cycle", () => {
  const folders = new Map<string, string[]>();
  for (const { from, to } of edges) {
    const [folder, other] = [posix.dirname(from), posix.dirname(to)];
    const area = areaOf(areas, from);
    if (isTest(from) || !area || area !== areaOf(areas, to)) continue;
    // A folder and the one around it are one idea: its door opens what is inside, and that uses what all of it share.
    if (`${folder}/`.startsWith(`${other}/`) || `${other}/`.startsWith(`${folder}/`)) continue;
    folders.set(folder, [...(folders.get(folder) ?? []), other]);
  }
  expect(findCycle(folders)).toBe(null);
});

test("no path leads out of the repository or contains its location", () => {
  const relative = /(?<=["'(`])\.\.?\/[^\s"'`)#?]*/g;
  const wrong = sourceFiles(".ts", ".tsx", ".md", ".json", ".yml", ".css").flatMap((file) => {
    const text = readSource(file);
    const paths = [...text.matchAll(relative)].map(([path]) => posix.join(posix.dirname(file), path));
    const outside = paths.filter((path) => path.startsWith(".."));
    return [...outside, ...(text.includes(`${ROOT}/`) ? [ROOT] : [])].map((path) => `${file}: ${path}`);
  });
  expect(wrong).toEqual([]);
});

function isAllowed(area: Area, byTest: boolean, to: string): boolean {
  const name = nameOf(to);
  if (name === area.name || area.allows.has(name)) return true;
  if (area.allows.has("npm") && !isOurs(to) && name !== "node") return true;
  const tests = areaOf(areas, "tools/boundaries.test.ts");
  return byTest && (area.testsAllow.has(name) || (tests?.testsAllow.has(name) ?? false));
}

/** The area, `node` or the npm package that an import belongs to. */
function nameOf(to: string): string {
  if (isOurs(to)) return areaOf(areas, to)?.name ?? to;
  return to.startsWith("node:") ? "node" : packageOf(to);
}

function domainOf(path: string): string | null {
  return /^apps\/server\/src\/domains\/([^/]+)\//.exec(path)?.[1] ?? null;
}

/** The first cycle of a graph as a sentence; null if it has none. */
function findCycle(graph: ReadonlyMap<string, readonly string[]>): string | null {
  const done = new Set<string>();
  const visit = (node: string, way: readonly string[]): string | null => {
    if (way.includes(node)) return [...way.slice(way.indexOf(node)), node].join(" -> ");
    if (done.has(node)) return null;
    for (const next of graph.get(node) ?? []) {
      const cycle = visit(next, [...way, node]);
      if (cycle) return cycle;
    }
    done.add(node);
    return null;
  };
  for (const node of graph.keys()) {
    const cycle = visit(node, []);
    if (cycle) return cycle;
  }
  return null;
}

function show({ from, to }: { from: string; to: string }): string {
  return `${from} -> ${to}`;
}

/** Folders whose code has none left. */
const PLAIN = /^(apps\/server\/src\/(domains|platform|ports|roles)|tools)\//;

test("an object literal names its properties: it spreads no other literal", () => {
  const spread = /\.\.\.\{\s/;
  const wrong = modules.filter((module) => PLAIN.test(module) && spread.test(readSource(module)));
  expect(wrong).toEqual([]);
});
