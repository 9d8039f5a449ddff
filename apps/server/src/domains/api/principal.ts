import type { Access } from "@weir/contract";
import type { FastifyRequest } from "fastify";
import type { Owner } from "../schema.ts";
import { Unauthenticated } from "./api-error.ts";

/** The caller of a request. */
export interface Principal extends Owner {
  /** The name of the API key, or of the person who signed in with a password. */
  readonly keyId: string;
  readonly keyName: string;
  readonly keyPrefix: string;
  readonly suspended: boolean;
  /** Null for an API key, also when it signed in to the dashboard. */
  readonly personId: string | null;
  /** The project of the key, or the first project of a person's account. `projectId` differs when the dashboard opens another project. */
  readonly keyProjectId: string;
  /** The scope of access: the whole account for people, and for the key of the first start or of `WEIR_API_KEY` that signed in to the dashboard. */
  readonly reach: "project" | "account";
  /** The access rules of the key; null for full access. A dashboard session has the rules of its key. */
  readonly access: Access | null;
  /** When the dashboard's cookie expires; null for a request with a key. */
  readonly cookieExpiresAt: number | null;
}

const principals = new WeakMap<FastifyRequest, Principal>();

/** The caller of this request. Throws `Unauthenticated` on a route without a guard. */
export function principalOf(request: FastifyRequest): Principal {
  const principal = principals.get(request);
  if (!principal) throw new Unauthenticated();
  return principal;
}

/** Called by the guard once it knows the caller. */
export function markPrincipal(request: FastifyRequest, principal: Principal): void {
  principals.set(request, principal);
}
