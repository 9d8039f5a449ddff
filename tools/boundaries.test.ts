import { posix } from "node:path";
import { expect, test } from "vitest";
import { type Area, areaOf, readArrows } from "./arrows.ts";
import { importsOf, isTest, ROOT, readSource, sourceFiles } from "./source-files.ts";

const areas = readArrows();
const modules = sourceFiles(".ts", ".tsx");
const imports = new Map(modules.map((module) => [module, importsOf(module)]));

const isOurs = (name: string) => /^(packages|apps|tools)\//.test(name);
const isProduct = ({ path }: Area) => path.startsWith("apps/server/src/") || path.startsWith("packages/");
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
  expect(arrows.filter((arrow) => !used.has(arrow))).toEqual([]);
});

test("a floor, another domain and a port are imported through their index.ts only", () => {
  const wrong = edges.filter(({ from, to }) => {
    if (!isOurs(to) || to.endsWith("/index.ts") || isTest(from)) return false;
    if (to.startsWith(PORTS)) return !from.startsWith(PORTS);
    if (from.startsWith("apps/server/src/roles/")) return /src\/(domains|media)\//.test(to);
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
  const reach = (name: string, way: readonly string[]): string[] => {
    if (way.includes(name)) return [[...way, name].join(" -> ")];
    const area = areas.find((candidate) => candidate.name === name);
    return [...(area?.allows ?? [])].flatMap((next) => reach(next, [...way, name]));
  };
  expect(areas.flatMap(({ name }) => reach(name, []))).toEqual([]);
});

test("module imports have no cycle", () => {
  expect(findCycle()).toBe(null);
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

function findCycle(): string | null {
  const done = new Set<string>();
  const visit = (module: string, way: readonly string[]): string | null => {
    if (way.includes(module)) return [...way.slice(way.indexOf(module)), module].join(" -> ");
    if (done.has(module)) return null;
    for (const to of imports.get(module) ?? []) {
      const cycle = isOurs(to) ? visit(to, [...way, module]) : null;
      if (cycle) return cycle;
    }
    done.add(module);
    return null;
  };
  for (const module of modules) {
    const cycle = visit(module, []);
    if (cycle) return cycle;
  }
  return null;
}

function show({ from, to }: { from: string; to: string }): string {
  return `${from} -> ${to}`;
}
