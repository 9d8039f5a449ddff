/** Descriptions and examples of the API, for its OpenAPI document and its reference. Only the server loads them. */
import { type RouteName, routes } from "../routes.ts";
import { accountDescriptions } from "./account-descriptions.ts";
import { assetDescriptions, clipDescriptions, taskDescriptions } from "./asset-descriptions.ts";
import { healthDescriptions, usageDescriptions, viewsDescriptions } from "./data-descriptions.ts";
import { type Description, type IsPublic, isPublic } from "./description.ts";
import { multistreamDescriptions } from "./multistream-descriptions.ts";
import { accessControlDescriptions, playbackDescriptions } from "./playback-descriptions.ts";
import { sessionDescriptions } from "./session-descriptions.ts";
import { streamDescriptions } from "./stream-descriptions.ts";
import { webhookDescriptions } from "./webhook-descriptions.ts";

export { errorsOf, takesIdempotencyKey } from "./common-errors.ts";
export { PlaybackLog } from "./data-descriptions.ts";
export { type Description, isPublic } from "./description.ts";
export { AccessQuestion, accessQuestion, type EventDescription, eventDescriptions } from "./event-descriptions.ts";
export {
  EXAMPLE_ORIGIN,
  ids as exampleIds,
  playbackIds as examplePlaybackIds,
  STREAM_KEY as exampleStreamKey,
} from "./example-objects.ts";
export { describeField } from "./field-descriptions.ts";
export { describePathParameter, describeQueryParameter } from "./parameter-descriptions.ts";
export { namedSchemas, schemaDescriptions } from "./schema-descriptions.ts";

export type PublicName = {
  [Name in RouteName]: IsPublic<(typeof routes)[Name]> extends true ? Name : never;
}[RouteName];

/** Operations about one noun: a tag of the OpenAPI document, and a page of the reference. */
export interface OperationGroup {
  readonly tag: string;
  readonly about: string;
  readonly descriptions: Readonly<Record<string, Description>>;
}

/** In the order of the reference. */
export const operationGroups: readonly OperationGroup[] = [
  {
    tag: "Streams",
    about:
      "A stream is a channel. Broadcasters publish to it with its stream key, and viewers play it by its playback id.",
    descriptions: streamDescriptions,
  },
  {
    tag: "Sessions",
    about: "A session is one broadcast of a stream, across reconnects, and its recording.",
    descriptions: sessionDescriptions,
  },
  {
    tag: "Clips",
    about: "A clip is an asset that was cut out of a live stream, a recording or another asset.",
    descriptions: clipDescriptions,
  },
  {
    tag: "Multistream targets",
    about: "A multistream target is another platform that streams are forwarded to.",
    descriptions: multistreamDescriptions,
  },
  {
    tag: "Assets",
    about: "An asset is an uploaded or imported file with its renditions, ready to be played.",
    descriptions: assetDescriptions,
  },
  {
    tag: "Tasks",
    about: "A task is work that continues after the response to its request, such as the transcoding of a file.",
    descriptions: taskDescriptions,
  },
  {
    tag: "Playback",
    about: "Addresses for encoders and players. These operations need no key.",
    descriptions: playbackDescriptions,
  },
  {
    tag: "Access control",
    about: "Keys that sign viewers' tokens, and a test of viewers' credentials.",
    descriptions: accessControlDescriptions,
  },
  {
    tag: "Health and events",
    about: "The health of a stream, and the feed of everything that happens to it.",
    descriptions: healthDescriptions,
  },
  {
    tag: "Views",
    about: "Current viewers, views and playing time over time, and reports from players.",
    descriptions: viewsDescriptions,
  },
  {
    tag: "Usage",
    about: "Minutes transcoded, delivered and stored.",
    descriptions: usageDescriptions,
  },
  {
    tag: "Webhooks",
    about: "URLs on your server that Weir calls when something happens, and the log of these calls.",
    descriptions: webhookDescriptions,
  },
  {
    tag: "Account",
    about: "The account and the projects that an API key belongs to.",
    descriptions: accountDescriptions,
  },
];

/** The description of every public operation; one that is missing does not compile. */
export const descriptions: Readonly<Record<PublicName, Description>> = {
  ...streamDescriptions,
  ...sessionDescriptions,
  ...clipDescriptions,
  ...multistreamDescriptions,
  ...assetDescriptions,
  ...taskDescriptions,
  ...playbackDescriptions,
  ...accessControlDescriptions,
  ...healthDescriptions,
  ...viewsDescriptions,
  ...usageDescriptions,
  ...webhookDescriptions,
  ...accountDescriptions,
};

/** Names of the operations that are described. */
export const publicNames = (Object.keys(routes) as RouteName[]).filter((name): name is PublicName =>
  isPublic(routes[name]),
);
