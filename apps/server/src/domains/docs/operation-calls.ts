import type { WeirClient } from "@weir/client";
import type { BodyOf, routes } from "@weir/contract";
import type { Description, PublicName } from "@weir/contract/descriptions";

/** The values of an operation's example. */
interface Given<Name extends PublicName> {
  /** The `:id` of the path. */
  readonly id: string;
  /** Another parameter of the path. */
  readonly of: (name: string) => string;
  readonly body: BodyOf<(typeof routes)[Name]>;
}

type OperationCalls = {
  readonly [Name in PublicName]: ((weir: WeirClient, given: Given<Name>) => unknown) | null;
};

/** How a program calls each operation with the client, with the values of its example. Null where the client has another way to the same. */
const calls: OperationCalls = {
  createStream: (weir, { body }) => weir.streams.create(body),
  listStreams: (weir) => weir.streams.list({ active: true, limit: 20 }),
  getStream: (weir, { id }) => weir.streams.get(id),
  getStreamByPlaybackId: (weir, { id }) => weir.streams.getByPlaybackId(id),
  getStreamByKey: (weir, { id }) => weir.streams.getByKey(id),
  getStreamInfo: null,
  listStreamsOfUser: null,
  patchStream: (weir, { id, body }) => weir.streams.patch(id, body),
  patchStreamRecord: null,
  patchStreamSuspended: null,
  setStreamSlateImage: (weir, { id, body }) => weir.streams.setSlateImage(id, body.image),
  deleteStream: (weir, { id }) => weir.streams.delete(id, { recordings: true }),
  deleteStreams: (weir, { body }) => weir.streams.deleteMany(body.ids ?? []),
  terminateStream: (weir, { id }) => weir.streams.terminate(id),
  pullStream: (weir, { body }) => weir.streams.pull(body),
  startPull: (weir, { id }) => weir.streams.startPull(id),
  tryPull: (weir, { body }) => weir.streams.tryPull(body),
  rotateStreamKey: (weir, { id }) => weir.streams.rotateKey(id),
  listRefusedPublishes: (weir, { id }) => weir.streams.refusedPublishes(id),
  testBroadcast: (weir, { id, body }) => weir.streams.testBroadcast(id, body),
  listStreamClips: null,
  addStreamTarget: (weir, { id, body }) => weir.streams.addTarget(id, body),
  removeStreamTarget: (weir, { id, of }) => weir.streams.removeTarget(id, of("targetId")),
  listStreamSessions: (weir, { id }) => weir.sessions.ofStream(id),
  listChildSessions: null,
  listSessions: (weir, { of }) => weir.sessions.list({ streamId: of("parentId") }),
  getSession: (weir, { id }) => weir.sessions.get(id),
  deleteSession: (weir, { id }) => weir.sessions.deleteRecording(id),
  deleteSessions: (weir, { body }) => weir.sessions.deleteRecordings(body.ids ?? []),
  listSessionClips: null,
  createClip: (weir, { body }) => weir.clips.create(body),
  listClips: (weir, { id }) => weir.clips.list(id),
  listAssetClips: null,
  createTarget: (weir, { body }) => weir.targets.create(body),
  listTargets: (weir) => weir.targets.list(),
  getTarget: (weir, { id }) => weir.targets.get(id),
  patchTarget: (weir, { id, body }) => weir.targets.patch(id, body),
  deleteTarget: (weir, { id }) => weir.targets.delete(id),
  requestUpload: (weir, { body }) => weir.assets.requestUpload(body),
  importAsset: (weir, { body }) => weir.assets.import(body),
  importAssetOlder: null,
  listAssets: (weir) => weir.assets.list(),
  getAsset: (weir, { id }) => weir.assets.get(id),
  patchAsset: (weir, { id, body }) => weir.assets.patch(id, body),
  deleteAsset: (weir, { id }) => weir.assets.delete(id),
  restoreAsset: (weir, { id }) => weir.assets.restore(id),
  retryAsset: (weir, { id }) => weir.assets.retry(id),
  exportAsset: (weir, { id, body }) => weir.assets.export(id, body),
  transcode: (weir, { body }) => weir.assets.transcode(body),
  listTasks: (weir) => weir.tasks.list(),
  getTask: (weir, { id }) => weir.tasks.get(id),
  retryTask: (weir, { id }) => weir.tasks.retry(id),
  getApiBase: (weir) => weir.dashboard.about(),
  getPlayback: (weir, { id }) => weir.playback.get(id),
  getIngest: (weir) => weir.ingest.list(),
  createSigningKey: (weir, { body }) => weir.signingKeys.create(body),
  listSigningKeys: (weir) => weir.signingKeys.list(),
  getSigningKey: (weir, { id }) => weir.signingKeys.get(id),
  patchSigningKey: (weir, { id, body }) => weir.signingKeys.patch(id, body),
  deleteSigningKey: (weir, { id }) => weir.signingKeys.delete(id),
  tryAccess: (weir, { body }) => weir.access.try(body),
  createOwnerToken: (weir, { body }) => weir.access.ownerToken(body.playbackId),
  getStreamHealth: (weir, { id }) => weir.streams.health(id),
  getStreamEvents: (weir, { id, of }) => weir.streams.events(id, { from: Number(of("from")), to: Number(of("to")) }),
  getViewsNow: (weir) => weir.views.now({ breakdownBy: ["country"] }),
  getViews: (weir, { of }) => weir.views.query({ playbackId: of("playbackId"), timeStep: "day" }),
  getViewsOfCreator: null,
  getTotalViews: (weir, { id }) => weir.views.total(id),
  logPlayback: null,
  getUsage: (weir, { of }) => weir.usage.query({ from: Number(of("from")), to: Number(of("to")) }),
  createWebhook: (weir, { body }) => weir.webhooks.create(body),
  listWebhooks: (weir) => weir.webhooks.list(),
  deleteWebhooks: (weir, { body }) => weir.webhooks.deleteMany(body.ids ?? []),
  listSubscribedWebhooks: null,
  getWebhook: (weir, { id }) => weir.webhooks.get(id),
  replaceWebhook: (weir, { id, body }) => weir.webhooks.replace(id, body),
  patchWebhook: (weir, { id, body }) => weir.webhooks.patch(id, body),
  deleteWebhook: (weir, { id }) => weir.webhooks.delete(id),
  listWebhookLogs: (weir, { id }) => weir.webhooks.logs(id),
  getWebhookLog: (weir, { id, of }) => weir.webhooks.log(id, of("logId")),
  resendWebhookLog: (weir, { id, of }) => weir.webhooks.resend(id, of("logId")),
  replayWebhook: (weir, { id, body }) => weir.webhooks.replay(id, body),
  takeWebhookRequests: (weir, { id }) => weir.webhooks.take(id),
  testWebhook: (weir, { id, body }) => weir.webhooks.test(id, body),
  getAccount: (weir) => weir.account.get(),
  listProjects: (weir) => weir.projects.list(),
  getProject: (weir, { id }) => weir.projects.get(id),
};

/** The call of the client for an operation's example; null if the client has none. */
export function clientCallOf(name: string, { example }: Pick<Description, "example">) {
  const call = calls[name as PublicName] as ((weir: WeirClient, given: Given<PublicName>) => unknown) | null;
  if (call === null) return null;
  const values: Readonly<Record<string, string>> = { ...example.query, ...example.params };
  const of = (parameter: string) => values[parameter] ?? "";
  return (weir: WeirClient) => call(weir, { id: of("id"), of, body: example.body as never });
}
