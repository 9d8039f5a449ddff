import { OWNER_TOKEN_PREFIX, type ViewerDetails } from "../../../ports/index.ts";
import type { GivenAdmission } from "./given-admission.ts";

/** What a request wants to watch, as far as admission needs it. The addresses of every protocol are such addresses. */
export interface PlaybackAddress {
  readonly playbackId: string;
  readonly protocol: ViewerDetails["protocol"];
  /** The viewer session's token in the address; null if there is none. */
  readonly token: string | null;
  /** The step of a request for this address. `file`: to open it at its beginning, to follow at any other range. */
  readonly step: Step | "file";
}

/**
 * `open` requests admission, and the decision applies to everything that follows: a multivariant playlist, the start of an MP4. `follow` comes
 * from an admitted player: a media playlist, another range of an MP4. `media` has the same URL for all viewers: segments, parts.
 */
export type Step = "open" | "follow" | "media";

/** The distinct credentials of a request. At most two per kind, since two different ones are refused anyway. */
export interface PlaybackCredentials {
  readonly tokens: readonly string[];
  readonly accessKeys: readonly string[];
}

/** A request to watch, in any protocol. Its properties are read when a decision needs them: most requests need only the address. */
export interface AccessRequest {
  readonly address: PlaybackAddress;
  readonly step: Step;
  /** The viewer's URL, also when an edge asks on the viewer's behalf. */
  readonly url: string;
  /** Nobody watches: it asks only whether there is something. */
  readonly isProbe: boolean;
  /** The connection, if all its requests are one viewer's; null behind a proxy, which sends those of many. */
  readonly connection: object | null;
  readonly remoteAddress: string;
  /** The client for limits. */
  readonly client: string;
  readonly userAgent: string;
  readonly referer: string;
  readonly origin: string | null;
  /** As another node of this server decided; null where this one decides. */
  readonly given: GivenAdmission | null;
  /** `invalid` if a credential could not be passed on exactly. */
  credentials(): PlaybackCredentials | "invalid";
  /** For a customer's webhook, without the query and the token in the URL. */
  details(): ViewerDetails;
}

const ORIGIN = /^[a-z]+:\/\/[^/?#]{1,300}/i;

/** The part of a request's origin that may affect the decision without credentials. */
export function originKey({ address, origin, referer }: AccessRequest): string {
  return `${address.playbackId} ${origin?.slice(0, 300) ?? ""} ${ORIGIN.exec(referer)?.[0] ?? ""}`;
}

/** Whether the owner requests a preview. It counts as no viewer, and must not be answered from the cache for all viewers. */
export function isByOwner({ step, url }: AccessRequest): boolean {
  return step === "open" && url.includes(`jwt=${OWNER_TOKEN_PREFIX}`);
}

const TKN = /[?&]tkn=([\w-]{1,64})(?:&|$)/;

/** The id that a public player assigns to itself. */
export function tknOf(url: string): string | null {
  return url.includes("tkn=") ? (TKN.exec(url)?.[1] ?? null) : null;
}
