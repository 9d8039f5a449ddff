import { routes } from "@weir/contract";
import type { FastifyInstance } from "fastify";
import { ApiRoutes } from "../api/index.ts";
import { TranscodeService, type TranscodeServiceDeps } from "./transcode-service.ts";

export function transcodeRoutes(app: FastifyInstance, deps: TranscodeServiceDeps): void {
  const transcodes = new TranscodeService(deps);
  const api = new ApiRoutes(app, deps);
  api.on(routes.transcode, async ({ principal, body }) => transcodes.create(principal, body));
  api.on(routes.exportAsset, async ({ principal, id, body }) => ({
    task: await transcodes.export(principal, id, body),
  }));
}
