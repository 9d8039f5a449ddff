import type { Access, AccessRule } from "@weir/contract";
import { ApiError } from "../api/index.ts";

/** The method in lower case, and the decoded parts of the path below `/api`. */
export interface Operation {
  readonly method: string;
  readonly path: readonly string[];
}

/** The routes that a browser key may call, unless it has rules of its own or full access. */
const PAGE_RULES: readonly AccessRule[] = [
  { methods: ["get"], resources: ["stream/:id/sessions", "stream/sessions/:parentId", "session/:id", "task/:id"] },
  { methods: ["get", "patch"], resources: ["stream/:id", "multistream/target/:id", "asset/:id"] },
  {
    methods: ["post"],
    resources: ["stream", "multistream/target", "asset/upload/url", "asset/request-upload", "asset/:id/export"],
  },
  {
    methods: ["get"],
    resources: ["data/views/:id/total", "data/views/query/total/:id", "data/views/query/creator"],
  },
];

/** A browser key: it is part of a web page, so everyone who opens the page can read it. */
const standsInPage = (access: Access): boolean => (access.cors?.allowedOrigins.length ?? 0) > 0;

/** A browser key without rules of its own and without full access. */
const isPageKey = (access: Access): boolean =>
  standsInPage(access) && access.cors?.fullAccess !== true && access.rules === undefined;

/** A key with full access can also manage other keys. */
export const isUnrestricted = (access: Access | null): boolean =>
  access === null || (access.rules === undefined && !isPageKey(access));

/** Whether a key can be exchanged for the dashboard's cookie, which has full access to its project. */
export const maySignIn = (access: Access | null): boolean =>
  access === null || (access.rules === undefined && !standsInPage(access));

/**
 * Whether this key may read the secrets of a thing, such as a stream key, a signed address, or the address of a webhook: it may change the thing
 * and is not a browser key.
 */
export function seesSecretsOf(access: Access | null, noun: "stream" | "asset" | "webhook", id: string): boolean {
  if (access === null) return true;
  if (standsInPage(access)) return false;
  return (
    access.rules === undefined ||
    access.rules.some(
      ({ methods, resources }) =>
        methods.some((method) => method !== "get") &&
        resources.some((resource) => reaches(partsOf(resource), noun, id)),
    )
  );
}

/** Paths at or below `stream/{id}`, and `stream`, where streams are created; likewise of assets and webhooks. */
function reaches([first = "", second = "*"]: readonly string[], noun: string, id: string): boolean {
  if (first === "*") return true;
  return (first === noun || first.startsWith(":")) && (second === "*" || second.startsWith(":") || second === id);
}

/** The reason why this operation is refused; null if it is allowed. Existing clients know the texts. */
export function refusalOf(access: Access | null, operation: Operation): string | null {
  if (access === null) return null;
  if (isPageKey(access))
    return allows(PAGE_RULES, operation) ? null : "access forbidden for CORS-enabled API key with restricted access";
  return access.rules === undefined || allows(access.rules, operation) ? null : "credential has insufficent privileges";
}

/** Whether pages of this origin may use the key. Compares the whole origin: `null` and similar suffixes do not match. */
export const allowsOrigin = (access: Access | null, origin: string): boolean =>
  access?.cors?.allowedOrigins.some((allowed) => allowed === "*" || allowed === origin) ?? false;

function allows(rules: readonly AccessRule[], { method, path }: Operation): boolean {
  const verb = method === "head" ? "get" : method;
  return rules.some(
    ({ methods, resources }) =>
      methods.some((allowed) => allowed === "*" || allowed === verb) &&
      resources.some((resource) => matches(partsOf(resource), path)),
  );
}

function matches(pattern: readonly string[], path: readonly string[]): boolean {
  const isOpen = pattern.at(-1) === "*";
  const fixed = isOpen ? pattern.slice(0, -1) : pattern;
  if (isOpen ? path.length <= fixed.length : path.length !== fixed.length) return false;
  return fixed.every((part, index) => part.startsWith(":") || part === path[index]);
}

/** `/api/stream/:id`, `/stream/:id` and `stream/:id` are equal. */
export const partsOf = (path: string): string[] => path.replace(/^\/*(api(\/|$))?/, "").split("/");

/** An access that a key cannot be given. */
const badAccess = (message: string) => new ApiError(422, "bad-access", message);

const PART = /^(:[A-Za-z]\w*|[\w.~-]+)$/;

/** Throws `bad-access` for rules and origins that could never match, or are repeated. */
export function checkAccess({ rules = [], cors }: Access): void {
  const known = new Set<string>();
  for (const { methods, resources } of rules) {
    for (const resource of resources) {
      const parts = partsOf(resource);
      const fixed = parts.at(-1) === "*" ? parts.slice(0, -1) : parts;
      if (!fixed.every((part) => PART.test(part)))
        throw badAccess(`Bad access rules: "${resource}" is no path like stream/:id or stream/*`);
      for (const method of methods) {
        const route = `${method} ${parts.map((part) => (part.startsWith(":") ? ":" : part)).join("/")}`;
        if (known.has(route)) throw badAccess(`Bad access rules: ${method} "${resource}" is there twice`);
        known.add(route);
      }
    }
  }
  for (const origin of cors?.allowedOrigins ?? []) {
    if (origin !== "*" && URL.parse(origin)?.origin !== origin)
      throw badAccess(`Bad CORS origin: "${origin}" is neither * nor an origin like https://app.example.com`);
  }
}
