import { type AccessTrialResult, routes } from "@weir/contract";
import type { FastifyInstance } from "fastify";
import type { AccessCheck } from "../access-control/index.ts";
import { ApiRoutes, NotFound } from "../api/index.ts";
import type { Deps } from "../deps.ts";
import { guardedContentOf, whyNotPlayable } from "./playable.ts";
import { findPlayable } from "./playback-store.ts";

export interface AccessTrialDeps extends Deps {
  readonly access: AccessCheck;
}

/** Lets owners test a viewer's credentials. The decision is the same as for a viewer, webhook included, from the current rows. */
export function accessTrialRoutes(app: FastifyInstance, deps: AccessTrialDeps): void {
  const api = new ApiRoutes(app, deps);

  api.on(routes.tryAccess, async ({ principal, body, address, origin: base }): Promise<AccessTrialResult> => {
    const { playbackId, jwt, accessKey, origin = null } = body;
    const row = await findPlayable(deps.db, playbackId);
    if (!row || row.project_id !== principal.projectId) throw new NotFound();
    const hindrance = whyNotPlayable(row);
    if (hindrance !== null) return { allowed: false, reason: sentence(hindrance) };
    const url = `${base}/hls/${row.playback_id}/index.m3u8`;
    const { host } = new URL(url);
    const verdict = await deps.access.open(guardedContentOf(row), {
      tokens: jwt === undefined ? [] : [jwt],
      accessKeys: accessKey === undefined ? [] : [accessKey],
      viewer: { protocol: "hls", address, url, host, userAgent: "", referer: "", origin },
    });
    return { allowed: verdict.ok, reason: sentence(verdict.why) };
  });
}

const sentence = (why: string): string => `${why.charAt(0).toUpperCase()}${why.slice(1)}.`;
