import type { Access } from "@weir/contract";
import type { FastifyRequest } from "fastify";
import type { Owner } from "../schema.ts";
import { Unauthenticated } from "./api-error.ts";

/** The caller of a request. */
export interface Principal extends Owner {
  /** Of the API key, or of the person who signed in with a password. */
  readonly keyId: string;
  readonly keyName: string;
  readonly keyPrefix: string;
  readonly suspended: boolean;
  /** Null where an API key asks, or signed in at the dashboard. */
  readonly personId: string | null;
  /** The project of the key, or the first one of a person's account; `projectId` is another one where the dashboard looks into it. */
  readonly keyProjectId: string;
  /** How far it reaches: an account for people, and for the key of the first start or of `WEIR_API_KEY` where it signed in at the dashboard. */
  readonly reach: "project" | "account";
  /** The rules of the key; null for everything. A dashboard session has the rules of its key. */
  readonly access: Access | null;
  /** When the dashboard's cookie ends; null for a request with a key. */
  readonly cookieExpiresAt: number | null;
}

const principals = new WeakMap<FastifyRequest, Principal>();

/** The caller of this request. Throws `Unauthenticated` on a route that nobody guards. */
export function principalOf(request: FastifyRequest): Principal {
  const principal = principals.get(request);
  if (!principal) throw new Unauthenticated();
  return principal;
}

/** The guard knows now who made it. */
export function markPrincipal(request: FastifyRequest, principal: Principal): void {
  principals.set(request, principal);
}
