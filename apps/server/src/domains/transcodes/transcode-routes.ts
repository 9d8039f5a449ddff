import { routes } from "@weir/contract";
import type { FastifyInstance } from "fastify";
import { ApiRoutes } from "../api/index.ts";
import { TranscodeService, type TranscodeServiceDeps } from "./transcode-service.ts";

export function transcodeRoutes(app: FastifyInstance, deps: TranscodeServiceDeps): void {
  const transcodes = new TranscodeService(deps);
  new ApiRoutes(app, deps).on(routes.transcode, async ({ principal, body }) => transcodes.create(principal, body));
}
