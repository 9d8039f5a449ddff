/** A parameter of a request, as a form asks for it. */
export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly isRequired: boolean;
  readonly description: string;
  readonly example: string;
}

/** What a form needs to know about an operation. */
export interface Operation {
  readonly takesKey: boolean;
  readonly parameters: readonly Parameter[];
  /** The example of the body, as JSON for people; null if the operation has none. */
  readonly body: string | null;
}

interface RawParameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: Parameter["in"];
  readonly required?: boolean;
  readonly description?: string;
  readonly example?: unknown;
}

interface RawOperation {
  readonly security: readonly object[];
  readonly parameters: readonly RawParameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example?: unknown }>> };
}

interface RawDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, RawOperation>>>>;
  readonly components: { readonly parameters: Readonly<Record<string, RawParameter>> };
}

/** Read an operation from the server's own OpenAPI document. */
export function operationAt(document: unknown, method: string, path: string): Operation {
  const { paths, components } = document as RawDocument;
  const raw = paths[path]?.[method.toLowerCase()];
  const parameters = (raw?.parameters ?? []).flatMap((parameter) => {
    const found = parameter.$ref ? components.parameters[parameter.$ref.split("/").at(-1) ?? ""] : parameter;
    return found ? [parameterOf(found)] : [];
  });
  const content = raw?.requestBody?.content["application/json"];
  return {
    takesKey: raw?.security.some((way) => "apiKey" in way) ?? false,
    parameters,
    body: content ? JSON.stringify(content.example, null, 2) : null,
  };
}

function parameterOf({ name, in: place, required = false, description = "", example }: RawParameter): Parameter {
  const shown = typeof example === "string" ? example : example === undefined ? "" : JSON.stringify(example);
  return { name, in: place, isRequired: required, description, example: shown };
}

/** The address and headers of a request with these values. Empty optional ones are left out. */
export function fillPath(path: string, values: readonly (Parameter & { readonly value: string })[]) {
  const given = values.filter(({ value, isRequired }) => isRequired || value !== "");
  let url = path;
  const search = new URLSearchParams();
  const headers: Record<string, string> = {};
  for (const { name, in: place, value } of given) {
    if (place === "path") url = url.replace(`{${name}}`, encodeURIComponent(value));
    else if (place === "query") search.set(name, value);
    else headers[name] = value;
  }
  return { url: search.size === 0 ? url : `${url}?${search}`, headers };
}
