import type { FastifyInstance } from "fastify";

const USUAL_ORDER = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

/** The methods of each address of an app, for requests that no route matched. */
export class KnownPaths {
  readonly #routes: { readonly parts: readonly string[]; readonly methods: readonly string[] }[] = [];

  /** Notes each route that is added from now on. Catch-all routes do not count: they answer for pages, not for operations. */
  constructor(app: FastifyInstance) {
    app.addHook("onRoute", ({ url, method }) => {
      if (!url.includes("*")) this.#routes.push({ parts: url.split("/"), methods: [method].flat() });
    });
  }

  /** Empty if there is nothing at this address, whatever the method. */
  methodsOf(path: string): readonly string[] {
    const parts = path.split("/");
    const found = this.#routes.filter((route) => matches(route.parts, parts));
    const methods = new Set(found.flatMap((route) => route.methods));
    return USUAL_ORDER.filter((method) => methods.has(method));
  }
}

const matches = (template: readonly string[], parts: readonly string[]): boolean =>
  template.length === parts.length &&
  template.every((part, i) => (part.startsWith(":") ? parts[i] !== "" : part === parts[i]));
