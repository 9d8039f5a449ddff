import { routes, type Stream } from "@weir/contract";
import type { FastifyInstance } from "fastify";
import { sql } from "kysely";
import { seesSecretsOf } from "../accounts/index.ts";
import { ApiRoutes, found, isSet, listOf, NotFound, type Principal, type RawQuery, textOf } from "../api/index.ts";
import type { RefusedPublishes } from "../live/index.ts";
import { PullTrials, pullKeyOf } from "../pulls/index.ts";
import type { StreamRow } from "../schema.ts";
import { readStreamInfo } from "./stream-info.ts";
import { streamRecord, withoutSecrets } from "./stream-record.ts";
import { StreamService, type StreamServiceDeps } from "./stream-service.ts";
import { findStreamBy, streamFields } from "./stream-store.ts";

export interface StreamRoutesDeps extends StreamServiceDeps {
  readonly refusals: RefusedPublishes;
}

export function streamRoutes(app: FastifyInstance, deps: StreamRoutesDeps): void {
  const api = new ApiRoutes(app, deps);
  const streams = new StreamService(deps);
  const trials = new PullTrials(deps);
  const list = listOf(deps.db, "stream", {
    fields: streamFields,
    order: "lastSeen-true,createdAt-true",
    only: ({ query }) => sql`deleted_at is null and ${chosen(query)}`,
    shown: (row: StreamRow, { principal }) => shown(principal, streamRecord(row, deps.clock.now())),
  });

  api.on(routes.createStream, async ({ principal, body }) => shown(principal, await streams.create(principal, body)));
  api.on(routes.listStreams, list);
  api.on(routes.listStreamsOfUser, async (request, reply) => {
    // A project belongs to one account; other accounts have no streams that could be visible here.
    if (request.id !== request.principal.userId) throw new NotFound();
    return list(request, reply);
  });
  api.on(routes.getStream, async ({ principal, id }) =>
    shown(principal, streamRecord(await streams.find(principal, id), deps.clock.now())),
  );
  api.on(routes.getStreamByPlaybackId, async ({ principal, id }) =>
    shown(principal, streamRecord(found(await findStreamBy(deps.db, principal, "playback_id", id)), deps.clock.now())),
  );
  api.on(routes.getStreamByKey, async ({ principal, id }) =>
    shown(principal, streamRecord(found(await findStreamBy(deps.db, principal, "stream_key", id)), deps.clock.now())),
  );
  api.on(routes.getStreamInfo, async ({ principal, id, origin }) => {
    const info = await readStreamInfo(deps.db, principal, id, { publicUrl: origin, now: deps.clock.now() });
    return { ...info, stream: shown(principal, info.stream) };
  });
  api.on(routes.patchStream, async ({ principal, id, body }) => streams.patch(principal, id, body));
  api.on(routes.patchStreamRecord, async ({ principal, id, body }) => streams.setRecord(principal, id, body.record), {
    mayBeEmpty: true,
  });
  api.on(
    routes.patchStreamSuspended,
    async ({ principal, id, body }) => streams.setSuspended(principal, id, body.suspended),
    { mayBeEmpty: true },
  );
  api.on(routes.setStreamSlateImage, async ({ principal, id, body }) =>
    streams.setSlateImage(principal, id, body.image),
  );
  api.on(routes.deleteStream, async ({ principal, id, query }) =>
    streams.delete(principal, [id], hasRecordings(query)),
  );
  api.on(
    routes.deleteStreams,
    async ({ principal, body, query }) => streams.delete(principal, body.ids, hasRecordings(query)),
    {
      mayBeEmpty: true,
    },
  );
  api.on(routes.terminateStream, async ({ principal, id }) => streams.terminate(principal, id));
  api.on(routes.pullStream, async ({ principal, body, query }, reply) => {
    const { stream, isNew } = await streams.pull(principal, body, pullKeyOf(textOf(query.key)));
    if (!isNew) reply.code(200);
    return shown(principal, stream);
  });
  api.on(routes.startPull, async ({ principal, id }) => streams.startPull(principal, id));
  api.on(routes.tryPull, async ({ principal, body }) => trials.try(principal, body));
  api.on(routes.rotateStreamKey, async ({ principal, id }) => shown(principal, await streams.rotateKey(principal, id)));
  api.on(routes.addStreamTarget, async ({ principal, id, body }) => streams.addTarget(principal, id, body));
  api.on(routes.removeStreamTarget, async ({ principal, id, params, query }) =>
    streams.removeTarget(principal, id, params.targetId ?? "", textOf(query.profile)),
  );
  api.on(routes.listRefusedPublishes, async ({ principal, id }) => {
    await streams.find(principal, id);
    return deps.refusals.of(id, principal.reach === "account");
  });
  api.on(routes.testBroadcast, async ({ principal, id, body }) => streams.testBroadcast(principal, id, body), {
    mayBeEmpty: true,
  });
}

/** The stream as this caller may see it. */
const shown = (principal: Principal, stream: Stream) =>
  seesSecretsOf(principal.access, "stream", stream.id) ? stream : withoutSecrets(stream);

/** Deletes their recordings too, but only if the request says so explicitly, because it cannot be undone. */
const hasRecordings = ({ recordings }: RawQuery): boolean => recordings === "true";

/** Sessions are not streams here, so a list of child streams is empty. */
function chosen({ active, sessionsonly }: RawQuery) {
  if (isSet(sessionsonly)) return sql`false`;
  return isSet(active) ? sql`state <> 'idle'` : sql`true`;
}
