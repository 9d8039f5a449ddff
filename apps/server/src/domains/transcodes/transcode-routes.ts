import { routes } from "@weir/contract";
import type { FastifyInstance } from "fastify";
import { ApiRoutes } from "../api/index.ts";
import { createTranscode, exportAsset, type TranscodeDeps } from "./transcode-service.ts";

export function transcodeRoutes(app: FastifyInstance, deps: TranscodeDeps): void {
  const api = new ApiRoutes(app, deps);
  api.on(routes.transcode, async ({ principal, body }) => createTranscode(deps, principal, body));
  api.on(routes.exportAsset, async ({ principal, id, body }) => ({
    task: await exportAsset(deps, principal, id, body),
  }));
}
