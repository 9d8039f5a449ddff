import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import { routes } from "@weir/contract";
import type { FastifyInstance, FastifyReply } from "fastify";
import { SECURITY_HEADERS } from "../../platform/http/own-headers.ts";
import { clientOf } from "../../platform/limits/client.ts";
import { type AuthenticateDeps, authenticate } from "../accounts/index.ts";
import { ALREADY_SENT, ApiError, type ApiRequest, ApiRoutes, NotFound } from "../api/index.ts";
import { type Subject, streamSubject } from "../subject.ts";
import type { EventFeed } from "./event-feed.ts";
import type { EventLog } from "./event-log.ts";
import { pollFeed } from "./feed-poll.ts";
import { FeedPosition } from "./feed-position.ts";
import { parseFeedRequest } from "./feed-request.ts";
import { FeedStream } from "./feed-stream.ts";
import { ownsLog } from "./log-owner.ts";

export interface EventRouteDeps extends AuthenticateDeps {
  readonly events: EventLog;
  readonly feed: EventFeed;
}

interface AskedFeed extends Pick<ApiRequest<typeof routes.getStreamEvents>, "principal" | "query"> {
  readonly subject: Subject;
}

/** The event feed at both URLs of the data API: server-sent events, or JSON if the client accepts only that. */
export function eventRoutes(app: FastifyInstance, deps: EventRouteDeps): void {
  const api = new ApiRoutes(app, deps);
  for (const route of [routes.getStreamEvents, routes.getStreamEventsOutsideApi])
    api.on(route, ({ principal, query, id }, reply) =>
      serveFeed(deps, { principal, query, subject: streamSubject(id) }, reply),
    );
}

async function serveFeed(deps: EventRouteDeps, asked: AskedFeed, reply: FastifyReply) {
  const { db, clock, feed } = deps;
  const { principal, subject, query } = asked;
  const { headers } = reply.request;
  const lastEventId = headers["last-event-id"];
  const request = parseFeedRequest(query, lastEventId?.toString(), clock.now());
  if (!(await ownsLog(db, principal, subject))) throw new NotFound(`${subject.kind} not found`);
  const { tail, release } = await feed.hold(subject, {
    projectId: principal.projectId,
    client: clientOf(reply.request.ip),
  });
  let isStreaming = false;
  try {
    const position = await FeedPosition.find(deps, { subject, tail, request });
    if (wantsJson(headers.accept)) {
      const onGone = (stop: () => void) => void reply.raw.once("close", stop);
      return await pollFeed({ clock, tail, position, maxWaitMs: request.maxWaitMs, onGone });
    }
    const response = beginStream(reply);
    if (reply.request.method === "HEAD") {
      response.end();
      return ALREADY_SENT;
    }
    isStreaming = true;
    const { render } = feed;
    const onTooSlow = () => feed.countTooSlow();
    const mayStay = () => wouldBeLetIn(deps, asked, reply);
    const stream = new FeedStream({ clock, tail, position, response, render, onTooSlow, mayStay });
    const unwatch = feed.credentials.watch(principal.keyId, {
      isValid: () => isStillValid(deps, reply),
      close: () => stream.close(),
    });
    stream
      .run()
      .catch((error: unknown) => deps.log.warn({ err: error, subject }, "the event feed of a reader ended"))
      .finally(() => {
        unwatch();
        release();
      });
    return ALREADY_SENT;
  } finally {
    if (!isStreaming) release();
  }
}

/** Subjects can be deleted, too. While the database does not answer, current readers stay. */
async function wouldBeLetIn(deps: EventRouteDeps, { principal, subject }: AskedFeed, reply: FastifyReply) {
  if (!(await isStillValid(deps, reply))) return false;
  return ownsLog(deps.db, principal, subject).catch(() => true);
}

/** Keys get deleted, people sign out, accounts get suspended. */
async function isStillValid(deps: EventRouteDeps, reply: FastifyReply): Promise<boolean> {
  try {
    await authenticate(deps, reply.request);
    return true;
  } catch (error) {
    return !(error instanceof ApiError && (error.statusCode === 401 || error.statusCode === 403));
  }
}

/** Write the headers past the framework, which would buffer the whole response. */
function beginStream(reply: FastifyReply): ServerResponse {
  reply.hijack();
  return reply.raw.writeHead(200, {
    ...SECURITY_HEADERS,
    ...(reply.getHeaders() as OutgoingHttpHeaders),
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache, no-transform",
    // Proxies such as nginx would otherwise buffer events.
    "x-accel-buffering": "no",
  });
}

const wantsJson = (accept = ""): boolean =>
  accept.includes("application/json") && !accept.includes("text/event-stream");
