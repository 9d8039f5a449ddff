import { routes } from "@weir/contract";
import type { FastifyInstance } from "fastify";
import { ApiRoutes } from "../api/index.ts";
import { ClipService, type ClipServiceDeps } from "./clip-service.ts";

export function clipRoutes(app: FastifyInstance, deps: ClipServiceDeps): void {
  const api = new ApiRoutes(app, deps);
  const clips = new ClipService(deps);
  api.on(routes.createClip, async ({ principal, body, origin }) => clips.create(principal, body, origin));
  api.on(routes.listClips, async ({ principal, id, origin }) =>
    clips.list(principal, id, origin, { text: "Content not found" }),
  );
  api.on(routes.listAssetClips, async ({ principal, id, origin }) =>
    clips.list(principal, id, origin, { only: "asset", text: "Asset not found" }),
  );
  api.on(routes.listSessionClips, async ({ principal, id, origin }) =>
    clips.list(principal, id, origin, { only: "session", text: "Session not found" }),
  );
  api.on(routes.listStreamClips, async ({ principal, id, origin }) =>
    clips.list(principal, id, origin, { only: "stream", text: "Stream not found" }),
  );
}
