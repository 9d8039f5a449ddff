/** What a parameter of a path means, by the path before it; the first that fits. */
const PATH_PARAMETERS: readonly (readonly [RegExp, string])[] = [
  [/\/stream\/playback\/$/, "The stream's `playbackId`"],
  [/\/stream\/key\/$/, "The stream's `streamKey`"],
  [/\/stream\/user\/$/, "The account's `id`"],
  [/\/stream\/(sessions\/)?$/, "The stream's `id`"],
  [/\/session\/$/, "The session's `id`"],
  [/\/target\/$|\/multistream\/$/, "The multistream target's `id`"],
  [/\/asset\/$/, "The asset's `id`"],
  [/\/clip\/$/, "The `id` or `playbackId` of a stream, session or asset"],
  [/\/task\/$/, "The task's `id`"],
  [/\/playback\/$|\/total\/$/, "A playback id of a stream, recording or asset"],
  [/\/signing-key\/$/, "The signing key's `id`"],
  [/\/subscribed\/$/, "Name of a webhook event, such as `stream.started`"],
  [/\/webhook\/$/, "The webhook's `id`"],
  [/\/log\/$/, "The `id` of a call in the webhook's log"],
  [/\/project\/$/, "The project's `id`"],
];

/** Parameters of queries whose schemas say nothing. */
const QUERY_PARAMETERS: Readonly<Record<string, string>> = {
  count: "`true`: the header `X-Total-Count` has the number of all matches",
  record: "Only sessions that were recorded, or that were not",
  parentId: "Only sessions of the stream with this id",
  userId: "Only objects that this account created",
  playbackId: "Only the object with this playback id",
  sourceUrl: "Only assets that were fetched from this URL",
  streamId: "Only the stream with this id",
  assetId: "Only the asset, or the recording of the session, with this id",
  creatorId: "Only objects with this `creatorId`",
  timeStep: "Length of a step; without it, the response has one element for the whole period",
};

/** Of the parameter `name` of a route's path. */
export function describePathParameter(path: string, name: string): string {
  const before = path.slice(0, path.indexOf(`:${name}`));
  if (path.endsWith("/info")) return "A stream's `id`, `streamKey` or `playbackId`, or the `id` of a session";
  return PATH_PARAMETERS.find(([pattern]) => pattern.test(before))?.[1] ?? "";
}

/** Of a query parameter without words of its own. */
export const describeQueryParameter = (name: string): string => QUERY_PARAMETERS[name] ?? "";
