import { type OwnerToken, routes } from "@weir/contract";
import type { FastifyInstance } from "fastify";
import type { OwnerTokens } from "../access-control/index.ts";
import { ApiRoutes, NotFound } from "../api/index.ts";
import type { Deps } from "../deps.ts";
import { findPlayable } from "./playback-store.ts";

export interface OwnerTokenDeps extends Deps {
  readonly ownerTokens: OwnerTokens;
}

/** Lets owners preview content that requires a credential. */
export function ownerTokenRoutes(app: FastifyInstance, deps: OwnerTokenDeps): void {
  const api = new ApiRoutes(app, deps);

  api.on(
    routes.createOwnerToken,
    async ({ principal: { projectId }, body: { playbackId } }): Promise<OwnerToken> => {
      const row = await findPlayable(deps.db, playbackId);
      if (!row || row.project_id !== projectId) throw new NotFound();
      return deps.ownerTokens.mint({ playbackId, projectId }, deps.clock.now());
    },
    { showsSecret: true },
  );
}
