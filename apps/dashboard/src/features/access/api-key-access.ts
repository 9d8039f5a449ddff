import type { Access } from "@weir/contract";

/** What a key may do, as it is chosen: everything, only read, or only what is safe to publish in a page. */
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

/** The choice that an access is; `rules` when it is none of ours. */
export function kindOf({ rules, cors }: Access = {}): Kind | "rules" {
  if (rules !== undefined) return JSON.stringify(rules.map(plain)) === JSON.stringify([READ_ONLY]) ? "read" : "rules";
  return cors !== undefined && cors.allowedOrigins.length > 0 && cors.fullAccess !== true ? "page" : "full";
}

const plain = ({ resources, methods }: NonNullable<Access["rules"]>[number]): object => ({ resources, methods });
