import { type EffectiveSetting, routes, type ServerSettings } from "@weir/contract";
import type { FastifyInstance } from "fastify";
import { askedOrigin } from "../../platform/http/asked-origin.ts";
import { ApiRoutes, BadRequest } from "../api/index.ts";
import type { Deps } from "../deps.ts";
import type { PublicAddress } from "../public-address.ts";
import { readAccount } from "./account-store.ts";
import { apiTokenRoutes } from "./api-token-routes.ts";
import type { KeyGuesses } from "./key-guesses.ts";
import type { Passwords } from "./password.ts";
import { personRoutes } from "./person-routes.ts";
import { projectRoutes } from "./project-routes.ts";
import { requireUnrestricted } from "./request-guard.ts";
import { signInRoutes } from "./sign-in-routes.ts";

export interface AccountRouteDeps extends Deps {
  readonly version: string;
  /** The settings of the process, without secrets. */
  readonly effectiveSettings: readonly EffectiveSetting[];
  readonly passwords: Passwords;
  readonly keyGuesses: KeyGuesses;
  listNodes(): Promise<ServerSettings["nodes"]>;
  publicUrl(): string;
  readonly publicAddress: PublicAddress;
  readonly isPublicUrlSet: boolean;
}

/** The caller, dashboard sign-in, people, projects, API keys, and the server's configuration. */
export function accountRoutes(app: FastifyInstance, deps: AccountRouteDeps): void {
  const api = new ApiRoutes(app, deps);
  const { publicAddress } = deps;

  signInRoutes(app, deps);
  personRoutes(app, deps);
  projectRoutes(app, deps);
  apiTokenRoutes(app, deps);

  api.on(routes.getAccount, async ({ principal }) => readAccount(deps.db, principal));

  api.on(routes.getServerSettings, async ({ principal }): Promise<ServerSettings> => {
    requireUnrestricted(principal);
    return { version: deps.version, settings: [...deps.effectiveSettings], nodes: await deps.listNodes() };
  });
  api.on(routes.getServerAddress, async () => publicAddress.describe());

  api.on(routes.pinServerAddress, async ({ body: { address } }) => {
    if (deps.isPublicUrlSet)
      throw new BadRequest("WEIR_PUBLIC_URL decides the address: change it, or unset it, and start again");
    await publicAddress.pin(address === null ? null : originIn(address));
    return publicAddress.describe();
  });
}

function originIn(text: string): string {
  const [, protocol, host] = /^(https?):\/\/([^/]+)\/?$/.exec(text.trim()) ?? [];
  const origin = protocol && host ? askedOrigin({ protocol, host }) : null;
  if (origin === null)
    throw new BadRequest("give an http:// or https:// address without path, such as https://video.example.com");
  return origin;
}
