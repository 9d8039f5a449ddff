import { routes } from "@weir/contract";
import type { FastifyInstance } from "fastify";
import { type ApiRequest, ApiRoutes, NotFound } from "../api/index.ts";
import { assetRecord } from "../assets/index.ts";
import { type ClipDeps, createClip } from "./clip-service.ts";
import { type ClipsOf, findClipsOf, listClipsOf } from "./clip-store.ts";

export function clipRoutes(app: FastifyInstance, deps: ClipDeps): void {
  const api = new ApiRoutes(app, deps);
  /** Of the stream, session or asset with this id or playback id; `text` where there is none. */
  const clipsOf =
    (only: ClipsOf | null, text: string) =>
    async ({ principal, id, origin }: Pick<ApiRequest, "principal" | "id" | "origin">) => {
      const parent = await findClipsOf(deps.db, principal, id);
      if (!parent || (only && parent.of !== only)) throw new NotFound(text);
      const rows = await listClipsOf(deps.db, principal, parent.of, parent.id);
      return rows.map((row) => assetRecord(row, { publicUrl: origin, details: false }));
    };
  api.on(routes.createClip, async ({ principal, body, origin }) => createClip(deps, principal, body, origin));
  api.on(routes.listClips, clipsOf(null, "Content not found"));
  api.on(routes.listAssetClips, clipsOf("asset", "Asset not found"));
  api.on(routes.listSessionClips, clipsOf("session", "Session not found"));
  api.on(routes.listStreamClips, clipsOf("stream", "Stream not found"));
}
