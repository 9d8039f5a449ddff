import type { Access } from "@weir/contract";

/** The choices for a key's access: everything, read only, or only operations that are safe in a public page. */
export const KINDS = ["full", "read", "page"] as const;
export type Kind = (typeof KINDS)[number];

const READ_ONLY = { resources: ["*"], methods: ["get" as const] };

/** The API's access of a choice. Without origins a key serves programs, not pages. */
export function accessOf(kind: Kind, origins: readonly string[]): Access | undefined {
  const allowedOrigins = [...origins];
  const rules = kind === "read" ? { rules: [READ_ONLY] } : {};
  if (allowedOrigins.length === 0) return kind === "read" ? rules : undefined;
  return { ...rules, cors: { allowedOrigins, ...(kind === "full" && { fullAccess: true }) } };
}

/** The choice that matches an access; `rules` for an access that no choice makes. */
export function kindOf({ rules, cors }: Access = {}): Kind | "rules" {
  if (rules !== undefined) return JSON.stringify(rules.map(plain)) === JSON.stringify([READ_ONLY]) ? "read" : "rules";
  return cors !== undefined && cors.allowedOrigins.length > 0 && cors.fullAccess !== true ? "page" : "full";
}

const plain = ({ resources, methods }: NonNullable<Access["rules"]>[number]): object => ({ resources, methods });
