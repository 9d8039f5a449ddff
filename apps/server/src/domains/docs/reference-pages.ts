import { ERROR_CODES } from "@weir/contract";
import { errorsOf, operationGroups } from "@weir/contract/descriptions";
import { type DescribedRoute, describedRoutes, type OpenApi, pathOf } from "../api/index.ts";
import { addressOf, type DocsPage, fence, headingId, table } from "./docs-page.ts";
import { sampleFences } from "./request-samples.ts";
import { type DocumentedSchema, type DocumentedSchemas, fieldTable, OBJECTS_PATH, typeText } from "./schema-text.ts";

const SECTION = "API reference";
const WEBHOOKS_PATH = "reference/webhook-events";

interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description: string;
  readonly schema: DocumentedSchema;
}

interface Content {
  readonly schema: DocumentedSchema;
  readonly example?: unknown;
}
type Contents = Readonly<Record<string, Content>>;

interface Components {
  readonly schemas: DocumentedSchemas;
  readonly parameters: Readonly<Record<string, Parameter>>;
}

interface Call {
  readonly post: { readonly description: string; readonly requestBody: { readonly content: Contents } };
}

/** The pages of the reference, written from the OpenAPI document: one for each noun, one for objects, one for webhook events. */
export function referencePages(document: OpenApi): DocsPage[] {
  const components = document.components as unknown as Components;
  const groups = operationGroups.map(({ tag, about }): DocsPage => {
    const operations = describedRoutes.filter((described) => described.tag === tag);
    const parts = operations.map((described) => operationPart(described, document, components));
    return { path: groupPath(tag), section: SECTION, title: tag, markdown: [`# ${tag}`, about, ...parts].join("\n\n") };
  });
  return [overview(document), ...groups, webhookEvents(document), objects(components)];
}

/** The page and heading of an operation. */
export const groupPath = (tag: string): string => `reference/${headingId(tag)}`;

function overview(document: OpenApi): DocsPage {
  const rows = describedRoutes.map(({ route, tag }) => [
    `\`${route.method} ${pathOf(route)}\``,
    `[${route.summary}](${addressOf(groupPath(tag))}#${headingId(route.summary)})`,
  ]);
  const markdown = [
    "# API reference",
    String(document.info.description),
    "Generators of clients read the same as OpenAPI 3.1 at [`/api/openapi.json`](/api/openapi.json). In the samples, the variable `WEIR_KEY` holds an API key.",
    `Every code of an error has a page: [errors](${addressOf("errors")}).`,
    "## Operations",
    table(["Operation", ""], rows),
  ].join("\n\n");
  return { path: "reference", section: SECTION, title: "API reference", markdown };
}

function operationPart(described: DescribedRoute, document: OpenApi, components: Components): string {
  const { route, description } = described;
  const path = pathOf(route);
  const operation = document.paths[path]?.[route.method.toLowerCase()];
  const parameters = (operation?.parameters ?? []) as unknown as Parameter[];
  const known = parameters.map((one) => (one.$ref ? components.parameters[one.$ref.split("/").at(-1) ?? ""] : one));
  const rows = known.flatMap((one) =>
    one
      ? [[`\`${one.name}\``, one.in, `${typeText(one.schema)}${one.required ? "" : " (optional)"}`, one.description]]
      : [],
  );
  const body = (operation?.requestBody as { content: Contents } | undefined)?.content["application/json"];
  return [
    `## ${route.summary}`,
    fence("http", `${route.method} ${path}`),
    ...(description.deprecatedFor === undefined
      ? []
      : [`**New programs call \`${description.deprecatedFor}\` instead.**`]),
    description.description,
    ...(rows.length === 0 ? [] : [table(["Parameter", "In", "Type", "Meaning"], rows)]),
    ...(body ? ["**Request body**", bodyText(body.schema, components)] : []),
    sampleFences(described),
    ...answerPart(described, operation?.responses as Readonly<Record<string, { content?: Contents }>>),
    errorLine(described),
  ].join("\n\n");
}

/** The fields of a body, so that a reader who writes a request has them in one place. */
function bodyText(schema: DocumentedSchema, { schemas }: Components): string {
  const named = schema.$ref ? schemas[schema.$ref.split("/").at(-1) ?? ""] : schema;
  const fields = named ? fieldTable(named, schemas) : "";
  return schema.$ref ? `${typeText(schema)}\n\n${fields}` : fields;
}

function answerPart({ route }: DescribedRoute, responses: Readonly<Record<string, { content?: Contents }>>): string[] {
  const { status } = route.success;
  const content = responses[status]?.content ?? {};
  const answers = Object.entries(content).flatMap(([type, { schema, example }]) => [
    `**Answer ${status}**, \`${type}\`: ${typeText(schema)}`,
    type === "application/json" ? fence("json", JSON.stringify(example, null, 2)) : fence("text", String(example)),
  ]);
  return answers.length === 0 ? [`**Answer ${status}**, without a body.`] : answers;
}

function errorLine({ route, description }: DescribedRoute): string {
  const rows = errorsOf(route, description).map((code) => [
    ERROR_CODES[code].statuses.join(", "),
    `[\`${code}\`](${addressOf(`errors/${code}`)})`,
    ERROR_CODES[code].meaning,
  ]);
  return `**Errors**\n\n${table(["Status", "Code", "Meaning"], rows)}`;
}

function webhookEvents(document: OpenApi): DocsPage {
  const parts = Object.entries(document.webhooks as unknown as Readonly<Record<string, Call>>).map(
    ([event, { post }]) => {
      const { schema, example } = post.requestBody.content["application/json"] ?? { schema: {} };
      return [
        `## ${event}`,
        post.description,
        `**Body**: ${typeText(schema)}`,
        fence("json", JSON.stringify(example, null, 2)),
      ].join("\n\n");
    },
  );
  const about = `The calls that Weir makes to your server. [Webhooks](${addressOf("api/webhooks")}) explains signatures, order and retries.`;
  const markdown = ["# Webhook events", about, ...parts].join("\n\n");
  return { path: WEBHOOKS_PATH, section: SECTION, title: "Webhook events", markdown };
}

function objects({ schemas }: Components): DocsPage {
  const parts = Object.entries(schemas).map(([name, schema]) =>
    [`## ${name}`, schema.description ?? "", schema.properties ? fieldTable(schema, schemas) : typeText(schema)].join(
      "\n\n",
    ),
  );
  return {
    path: OBJECTS_PATH,
    section: SECTION,
    title: "Objects",
    markdown: ["# Objects", "Every object that requests and answers contain.", ...parts].join("\n\n"),
  };
}
