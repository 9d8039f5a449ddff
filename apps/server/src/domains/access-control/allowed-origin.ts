import type { ViewerDetails } from "../../ports/index.ts";

/** Whether a page of this origin may play the content, by exact match. Without a list, every page and any player outside a page may. */
export function isOriginAllowed(
  allowedOrigins: readonly string[] | undefined,
  viewer: Pick<ViewerDetails, "origin" | "referer">,
): boolean {
  if (!hasOriginList(allowedOrigins)) return true;
  const origin = pageOf(viewer);
  return origin !== "" && allowedOrigins.some((allowed) => withoutSlash(allowed) === origin);
}

/** Whether responses differ by origin. `*` anywhere in a list allows every origin, and requests without one. */
export function hasOriginList(allowedOrigins: readonly string[] | undefined): allowedOrigins is readonly string[] {
  return allowedOrigins !== undefined && allowedOrigins.length > 0 && !allowedOrigins.includes("*");
}

/** A sandboxed page's origin is the text `null`. Same-origin requests have none. */
function pageOf({ origin, referer }: Pick<ViewerDetails, "origin" | "referer">): string {
  if (origin !== null && origin !== "" && origin !== "null") return withoutSlash(origin);
  return URL.canParse(referer) ? new URL(referer).origin : "";
}

const withoutSlash = (origin: string): string => (origin.endsWith("/") ? origin.slice(0, -1) : origin);
