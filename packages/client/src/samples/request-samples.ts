import { type LiteralStyle, literal } from "./literal.ts";
import type { RecordedCall } from "./recorded-call.ts";

/** A request to show as code. */
export interface SampleRequest {
  readonly method: string;
  /** Absolute, with the query. */
  readonly url: string;
  readonly needsKey: boolean;
  readonly body: unknown;
  /** The response has a body. */
  readonly hasAnswer: boolean;
}

/** How a call of the client is written: its name, arguments and kind of result. */
export type SampleCall = Pick<RecordedCall, "name" | "args" | "isEndless">;

/** The same request in each language. */
export interface RequestSamples {
  readonly sh: string;
  readonly ts: string;
  readonly python: string;
}

const JAVASCRIPT: LiteralStyle = {
  words: { null: "null", true: "true", false: "false" },
  key: (name) => `${/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)}: `,
  isAiry: true,
};
const PYTHON: LiteralStyle = {
  words: { null: "None", true: "True", false: "False" },
  key: (name) => `${JSON.stringify(name)}: `,
  isAiry: false,
};

/**
 * A request in curl, TypeScript and Python. The key is never in it: the variable `WEIR_KEY` holds it. TypeScript uses the client where it has
 * a method, and else `fetch`.
 */
export function requestSamples(request: SampleRequest, call: SampleCall | null): RequestSamples {
  return {
    sh: curl(request),
    ts: call === null ? withFetch(request) : withClient(request, call),
    python: python(request),
  };
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

function withClient({ url, needsKey, hasAnswer }: SampleRequest, { name, args, isEndless }: SampleCall): string {
  const apiKey = needsKey ? ", apiKey: process.env.WEIR_KEY" : "";
  const called = `weir.${name}(${args.map((arg) => literal(arg, JAVASCRIPT)).join(", ")})`;
  const line = isEndless
    ? `for await (const answer of ${called}) console.log(answer);`
    : `${hasAnswer ? "const answer = " : ""}await ${called};`;
  return `import { WeirClient } from "@weir/client";\n\nconst weir = new WeirClient({ baseUrl: "${new URL(url).origin}"${apiKey} });\n${line}`;
}

function withFetch({ method, url, needsKey, body }: SampleRequest): string {
  const headers = [
    ...(needsKey ? [`Authorization: \`Bearer \${process.env.WEIR_KEY}\``] : []),
    ...(body === undefined ? [] : ['"Content-Type": "application/json"']),
  ];
  const options = [
    ...(method === "GET" ? [] : [`  method: "${method}",`]),
    ...(headers.length === 0 ? [] : [`  headers: { ${headers.join(", ")} },`]),
    ...(body === undefined ? [] : [`  body: JSON.stringify(${literal(body, JAVASCRIPT, "  ")}),`]),
  ];
  const second = options.length === 0 ? "" : `, {\n${options.join("\n")}\n}`;
  return `const response = await fetch("${url}"${second});\nif (!response.ok) throw new Error((await response.json()).message);\nconst answer = response.status === 204 ? null : await response.json();`;
}

function python({ method, url, needsKey, body }: SampleRequest): string {
  const options = [
    ...(needsKey ? ['    headers={"Authorization": f"Bearer {os.environ[\'WEIR_KEY\']}"},'] : []),
    ...(body === undefined ? [] : [`    json=${literal(body, PYTHON, "    ")},`]),
  ];
  const rest = options.length === 0 ? "" : `\n${options.join("\n")}\n`;
  const call = `requests.${method.toLowerCase()}(${rest === "" ? "" : "\n    "}"${url}"${rest === "" ? "" : ","}${rest})`;
  return `import os\n\nimport requests\n\nresponse = ${call}\nresponse.raise_for_status()\nanswer = response.json() if response.content else None`;
}
