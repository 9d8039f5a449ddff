import { type Description, EXAMPLE_ORIGIN } from "@weir/contract/descriptions";
import { fence } from "./docs-page.ts";

/** What a sample needs of an operation. */
export interface SampledRoute {
  readonly route: { readonly method: string; readonly path: string; readonly auth: string };
  readonly description: Description;
}

interface SampleRequest {
  readonly method: string;
  readonly url: string;
  readonly needsKey: boolean;
  readonly body: unknown;
}

/** The example request of an operation in curl, TypeScript and Python, as Markdown. The key is never in it: `WEIR_KEY` holds it. */
export function requestSamples({ route, description }: SampledRoute): string {
  const { params = {}, query, body } = description.example;
  const path = route.path.replaceAll(/:(\w+)/g, (_, name: string) => params[name] ?? "");
  const search = query ? `?${new URLSearchParams(query)}` : "";
  const request = {
    method: route.method,
    url: `${EXAMPLE_ORIGIN}${path}${search}`,
    needsKey: route.auth !== "none",
    body: body ?? description.looseBody?.example,
  };
  return [fence("sh", curl(request)), fence("ts", typeScript(request)), fence("python", python(request))].join("\n\n");
}

function curl({ method, url, needsKey, body }: SampleRequest): string {
  return [
    `curl${method === "GET" ? "" : ` -X ${method}`} "${url}"`,
    ...(needsKey ? ['-H "Authorization: Bearer $WEIR_KEY"'] : []),
    ...(body === undefined
      ? []
      : ['-H "Content-Type: application/json"', `-d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`]),
  ].join(" \\\n  ");
}

function typeScript({ method, url, needsKey, body }: SampleRequest): string {
  const headers = [
    ...(needsKey ? [`Authorization: \`Bearer \${process.env.WEIR_KEY}\``] : []),
    ...(body === undefined ? [] : ['"Content-Type": "application/json"']),
  ];
  const options = [
    ...(method === "GET" ? [] : [`  method: "${method}",`]),
    ...(headers.length === 0 ? [] : [`  headers: { ${headers.join(", ")} },`]),
    ...(body === undefined ? [] : [`  body: JSON.stringify(${indented(JSON.stringify(body, null, 2), "  ")}),`]),
  ];
  const second = options.length === 0 ? "" : `, {\n${options.join("\n")}\n}`;
  return `const response = await fetch("${url}"${second});\nif (!response.ok) throw new Error((await response.json()).message);\nconst answer = response.status === 204 ? null : await response.json();`;
}

function python({ method, url, needsKey, body }: SampleRequest): string {
  const options = [
    ...(needsKey ? ['    headers={"Authorization": f"Bearer {os.environ[\'WEIR_KEY\']}"},'] : []),
    ...(body === undefined ? [] : [`    json=${indented(pythonValue(body), "    ")},`]),
  ];
  const rest = options.length === 0 ? "" : `\n${options.join("\n")}\n`;
  const call = `requests.${method.toLowerCase()}(${rest === "" ? "" : "\n    "}"${url}"${rest === "" ? "" : ","}${rest})`;
  return `import os\n\nimport requests\n\nresponse = ${call}\nresponse.raise_for_status()\nanswer = response.json() if response.content else None`;
}

/** JSON is Python but for three words. */
function pythonValue(value: unknown): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value !== "object") return JSON.stringify(value);
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  const entries = Array.isArray(value)
    ? value.map(pythonValue)
    : Object.entries(value).map(([name, inner]) => `${JSON.stringify(name)}: ${pythonValue(inner)}`);
  return `${open}${entries.join(", ")}${close}`;
}

const indented = (text: string, by: string): string => text.replaceAll("\n", `\n${by}`);
