import type { ViewerDetails } from "../../ports/index.ts";

/** Whether the page that the viewer is on may play this: an exact match; without a list every page may, and any player outside a page. */
export function isOriginAllowed(
  allowedOrigins: readonly string[] | undefined,
  viewer: Pick<ViewerDetails, "origin" | "referer">,
): boolean {
  if (!hasOriginList(allowedOrigins)) return true;
  const origin = pageOf(viewer);
  return origin !== "" && allowedOrigins.some((allowed) => withoutSlash(allowed) === origin);
}

/** Whether answers differ by origin. `*` anywhere in a list means every origin, and none at all. */
export function hasOriginList(allowedOrigins: readonly string[] | undefined): allowedOrigins is readonly string[] {
  return allowedOrigins !== undefined && allowedOrigins.length > 0 && !allowedOrigins.includes("*");
}

/** A sandboxed page's origin is the text `null`; requests to the page's own origin come without one. */
function pageOf({ origin, referer }: Pick<ViewerDetails, "origin" | "referer">): string {
  if (origin !== null && origin !== "" && origin !== "null") return withoutSlash(origin);
  return URL.canParse(referer) ? new URL(referer).origin : "";
}

const withoutSlash = (origin: string): string => (origin.endsWith("/") ? origin.slice(0, -1) : origin);
