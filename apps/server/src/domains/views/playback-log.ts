import { routes } from "@weir/contract";
import type { FastifyInstance } from "fastify";
import type { Audiences } from "../../platform/audience/index.ts";
import { clientOf } from "../../platform/limits/client.ts";
import { RateLimit } from "../../platform/limits/rate-limit.ts";
import { BadRequest, TooManyRequests } from "../api/index.ts";
import type { Deps } from "../deps.ts";
import { isPlaybackId } from "../ids.ts";
import { PlayerReports } from "./player-reports.ts";
import type { ViewCounter } from "./view-counter.ts";

export interface PlaybackLogDeps extends Deps {
  readonly viewCounter: ViewCounter;
  readonly audiences: Audiences;
}

/** Players derive the URL of their reports from the base URL that they know. */
const ROUTES = [routes.logPlayback, routes.logPlaybackOutsideApi, routes.logPlaybackAtRoot];
const MAX_BODY = 64 * 1024;
const MAX_EVENTS = 200;
/** A player reports every 5 s, and many viewers may share an address. */
const QUOTA = 1_200;
const MINUTE_MS = 60_000;

interface PlaybackLog {
  readonly playbackId: string;
  readonly sessionId: string;
  readonly events: readonly unknown[];
}

/** Reports of players, from any page and without a key. They are counted, never stored as received. */
export function playbackLogRoutes(app: FastifyInstance, { clock, viewCounter, audiences }: PlaybackLogDeps): void {
  const limit = new RateLimit({ clock, quota: QUOTA, windowMs: MINUTE_MS });
  const reports = new PlayerReports();

  void app.register(async (scope) => {
    // A page that sends without a preflight request can only send text.
    scope.removeContentTypeParser(["text/plain", "application/json"]);
    scope.addContentTypeParser(
      ["text/plain", "application/json"],
      { parseAs: "string" },
      async (_: unknown, text: string) => text,
    );
    for (const route of ROUTES) {
      scope.post(route.path, { bodyLimit: MAX_BODY, config: { route } }, async (request, reply) => {
        const allowance = limit.take(clientOf(request.ip));
        if (!allowance.isAllowed) {
          reply.headers(limit.headers(allowance));
          throw new TooManyRequests("too much from this address: send less often");
        }
        const { playbackId, sessionId, events } = parsePlaybackLog(String(request.body ?? ""));
        const audience = audiences.of(request.headers["user-agent"] ?? "", request.ip);
        viewCounter.countReport(playbackId, audience, reports.read(sessionId, events));
        return reply.code(204).send();
      });
    }
  });
}

/** Reads the fields it needs and ignores the rest. Throws `BadRequest`. */
function parsePlaybackLog(text: string): PlaybackLog {
  const body = parse(text);
  const { playback_id: playbackId, session_id: sessionId, events } = body;
  if (typeof playbackId !== "string" || !isPlaybackId(playbackId))
    throw new BadRequest("playback_id is no playback id");
  if (!Array.isArray(events) || events.length > MAX_EVENTS)
    throw new BadRequest(`events is a list of at most ${MAX_EVENTS}`);
  const id = typeof sessionId === "string" ? sessionId.slice(0, 100) : "";
  return { playbackId, sessionId: `${playbackId} ${id}`, events };
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === "object" && body !== null) return body as Record<string, unknown>;
  } catch {}
  throw new BadRequest("the body is no JSON object");
}
