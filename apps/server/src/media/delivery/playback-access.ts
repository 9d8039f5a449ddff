import { hash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "../../platform/clock.ts";
import type { TrustedProxies } from "../../platform/http/trusted-proxies.ts";
import { DeniedClients } from "../../platform/limits/denied-clients.ts";
import type { EventSink, PlaybackContent, PlaybackGate, ViewerPass } from "../../ports/index.ts";
import type { MediaAddress } from "./hls/media-address.ts";
import { type PlaybackCredentials, readCredentials } from "./playback-credentials.ts";
import { PublicAnswers } from "./public-answers.ts";
import { PublicViewers } from "./public-viewers.ts";
import { type Viewer, ViewerCounts } from "./viewer-counts.ts";
import { viewerDetails } from "./viewer-details.ts";
import { type Grant, type ViewerSession, ViewerSessions } from "./viewer-sessions.ts";
import { ViewerTokens } from "./viewer-token.ts";

/**
 * What one client may ask the gate: many viewers behind one address may all come too early for a broadcast, or all at the same moment. They
 * leave others some of the 500 places that wait for the database.
 */
const QUESTIONS = { deniedPerMinute: 600, atOnce: 400, slowed: { atOnce: 8, perSecond: 50 } } as const;

/** Token slot of addresses that name nobody. */
export const NOBODY = "-";

/** A request that may be answered. */
export interface Admission {
  readonly content: PlaybackContent;
  /** Null for public content. */
  readonly session: ViewerSession | null;
  /** Nobody new may begin to watch. */
  readonly isFull: boolean;
  /** The address alone says who is asking, so that caches on the way may give the answer to whoever has the address. */
  readonly isShared: boolean;
}

export type Refusal = "denied" | "invalid-credential" | "too-many";

export interface PlaybackAccessSettings {
  readonly clock: Clock;
  readonly gate: PlaybackGate;
  readonly eventSink: EventSink;
  /** 32 bytes, the same on every node. */
  readonly viewerSecret: Uint8Array;
  readonly proxies: TrustedProxies;
  /** As so many viewers one client is counted at most. */
  readonly viewersPerClient: number;
}

/**
 * Who may have what: public content by an answer that is kept for all, gated content by a viewer session. An access request is a request for a
 * multivariant playlist or for the beginning of an MP4; its answer holds for everything that follows from it.
 */
export class PlaybackAccess {
  readonly #gate: PlaybackGate;
  readonly #proxies: TrustedProxies;
  readonly #counts: ViewerCounts;
  readonly #publicViewers: PublicViewers;
  readonly #publicAnswers: PublicAnswers;
  readonly #sessions: ViewerSessions;
  readonly #denied: DeniedClients;
  /**
   * Who was last counted on a connection. Without a proxy in front a connection is one viewer's, and to look at the connection costs a tenth
   * of reading the request's headers.
   */
  readonly #onConnection = new WeakMap<Socket, { playbackId: string; tkn: string | null; viewer: Viewer }>();
  /** Requests that wait for the same answer share one question. */
  readonly #asking = new Map<string, Promise<Admission | Refusal>>();

  constructor({ clock, gate, eventSink, viewerSecret, proxies, viewersPerClient }: PlaybackAccessSettings) {
    this.#gate = gate;
    this.#proxies = proxies;
    this.#counts = new ViewerCounts(clock, eventSink, viewersPerClient);
    this.#publicViewers = new PublicViewers(this.#counts);
    this.#publicAnswers = new PublicAnswers(clock);
    this.#denied = new DeniedClients({ clock, ...QUESTIONS });
    this.#sessions = new ViewerSessions({ clock, gate, tokens: new ViewerTokens(viewerSecret), counts: this.#counts });
  }

  /** The answer, where it is known and stands; null where the gate has to be asked. */
  known(req: IncomingMessage, address: MediaAddress): Admission | "denied" | null {
    const { playbackId } = address;
    if (address.kind === "file" && address.token !== NOBODY) {
      const session = this.#sessions.find(address.token);
      return session?.playbackId === playbackId ? this.#admit(session, true) : null;
    }
    const forAll = this.#publicAnswers.find(playbackId);
    const answer = forAll ?? this.#publicAnswers.find(originKey(req, playbackId));
    return answer && { content: answer.content, session: null, isFull: answer.isFull, isShared: forAll !== null };
  }

  /**
   * The gate's answer. A client that was denied too often has to wait with its questions, except about viewers who are known to watch and
   * about content that was public a moment ago: a neighbour's guesses hold up nobody's segments.
   */
  ask(req: IncomingMessage, url: string, address: MediaAddress): Promise<Admission | Refusal> {
    return this.#ask(req, url, address, (open) => this.#denied.ask(this.#proxies.clientOf(req), open));
  }

  /** Count who asks. False for somebody new where nobody new may begin. */
  arrive(req: IncomingMessage, url: string, address: MediaAddress, { session, isFull }: Admission): boolean {
    if (req.method !== "GET") return true;
    if (session) {
      this.#counts.see(session.viewer);
      return true;
    }
    const { playbackId } = address;
    const isBegin = address.kind !== "file" || address.file.endsWith(".m3u8");
    const tkn = tknOf(url);
    const last = this.#onConnection.get(req.socket);
    if (last?.viewer.tally && last.playbackId === playbackId && (last.tkn === tkn || !isBegin)) {
      this.#counts.see(last.viewer);
      return true;
    }
    const userAgent = req.headers["user-agent"] ?? "";
    const caller = { playbackId, address: this.#proxies.addressOf(req), userAgent, tkn };
    if (!isBegin) {
      this.#publicViewers.goOn(caller);
      return true;
    }
    const viewer = this.#publicViewers.begin(caller, isFull);
    if (viewer && this.#proxies.isEmpty) this.#onConnection.set(req.socket, { playbackId, tkn, viewer });
    return viewer !== null;
  }

  /** What a multivariant playlist's addresses have in the token slot. */
  slot({ session }: Admission): string {
    return session ? this.#sessions.seal(session) : NOBODY;
  }

  /** Whether a long answer may go on. Rejects where that cannot be found out. */
  async goesOn(req: IncomingMessage, url: string, address: MediaAddress, admission: Admission): Promise<boolean> {
    const { session } = admission;
    const answer = session
      ? (this.#admit(session, false) ?? (await this.#askAbout(session, false)))
      : (this.known(req, address) ?? (await this.#ask(req, url, address, (open) => open())));
    return typeof answer === "object" && this.arrive(req, url, address, { ...answer, isFull: false });
  }

  /** What was answered about this playback id, or about all, is asked for again. */
  accessChanged(playbackId: string | "all"): void {
    this.#publicAnswers.clear();
    this.#sessions.accessChanged(playbackId);
  }

  close(): void {
    this.#counts.close();
    this.#sessions.close();
  }

  async #ask(
    req: IncomingMessage,
    url: string,
    address: MediaAddress,
    limit: (open: () => Promise<Admission | Refusal>) => Promise<Admission | Refusal>,
  ): Promise<Admission | Refusal> {
    if (address.kind === "file" && address.token !== NOBODY) return this.#askByToken(req, url, address);
    const credentials = readCredentials(req, url);
    if (credentials === "invalid") return "invalid-credential";
    const isBare = credentials.tokens.length === 0 && credentials.accessKeys.length === 0;
    const identity = isBare ? undefined : this.#identity(req, address, credentials);
    const isAccess = !isBare && isAccessRequest(req, address);
    const session = identity === undefined || isAccess ? undefined : this.#sessions.find(identity);
    if (session) return this.#admit(session, false) ?? this.#askAbout(session, false);
    const open = () => this.#open(req, url, address, credentials, identity);
    if (isAccess) return limit(open);
    const key = identity ?? originKey(req, address.playbackId);
    const isNoGuess = isBare && (this.#publicAnswers.isKept(address.playbackId) || this.#publicAnswers.isKept(key));
    // Inside, so that waiting for an answer that somebody else has asked for costs nothing.
    return this.#share(key, isNoGuess ? open : () => limit(open));
  }

  #admit(session: ViewerSession, isShared: boolean): Admission | "denied" | null {
    const admits = this.#sessions.admits(session);
    if (admits === false) return "denied";
    return admits && session.content ? { content: session.content, session, isFull: false, isShared } : null;
  }

  async #askAbout(session: ViewerSession, isShared: boolean): Promise<Admission | "denied"> {
    const isAdmitted = await this.#sessions.ask(session);
    return isAdmitted && session.content ? { content: session.content, session, isFull: false, isShared } : "denied";
  }

  async #askByToken(
    req: IncomingMessage,
    url: string,
    address: MediaAddress & { kind: "file" },
  ): Promise<Admission | Refusal> {
    const { playbackId, token } = address;
    const found = this.#sessions.find(token);
    const session =
      found?.playbackId === playbackId
        ? found
        : this.#sessions.reopen(playbackId, token, viewerDetails(req, url, address, this.#proxies));
    return session ? this.#askAbout(session, true) : "denied";
  }

  async #open(
    req: IncomingMessage,
    url: string,
    address: MediaAddress,
    credentials: PlaybackCredentials,
    identity?: string,
  ): Promise<Admission | Refusal> {
    const { playbackId } = address;
    const viewer = viewerDetails(req, url, address, this.#proxies);
    const asked = this.#sessions.changes;
    const decision = await this.#gate.open({ playbackId, ...credentials, viewer });
    if (!decision.ok) return "denied";
    const { content, isFull, perOrigin } = decision;
    if (!isGated(decision)) {
      const key = perOrigin ? originKey(req, playbackId) : playbackId;
      if (asked === this.#sessions.changes) this.#publicAnswers.keep(key, decision);
      return { content, session: null, isFull, isShared: !perOrigin };
    }
    const known = identity === undefined ? undefined : this.#sessions.find(identity)?.viewer;
    if (isFull && !known?.tally) return "denied";
    const session = this.#sessions.begin(playbackId, decision, {
      details: viewer,
      asked,
      // Players ask for the beginning of a file more than once.
      viewer: address.kind === "mp4" ? known : undefined,
    });
    if (identity !== undefined) this.#sessions.remember(identity, session);
    return { content, session, isFull, isShared: false };
  }

  #share(key: string, ask: () => Promise<Admission | Refusal>): Promise<Admission | Refusal> {
    const asking = this.#asking.get(key) ?? ask().finally(() => this.#asking.delete(key));
    this.#asking.set(key, asking);
    return asking;
  }

  /** Who asks, for requests that bring their credential each time. */
  #identity(req: IncomingMessage, { playbackId }: MediaAddress, { tokens, accessKeys }: PlaybackCredentials): string {
    const who = [playbackId, this.#proxies.addressOf(req), req.headers["user-agent"], tokens, accessKeys];
    // No token of an address can begin like this.
    return `/${hash("sha256", JSON.stringify(who), "base64url")}`;
  }
}

function isGated(decision: Grant): decision is Grant & { pass: ViewerPass } {
  return decision.pass !== null;
}

/** A multivariant playlist, or an MP4 from its beginning; other ranges of it, and files, follow from one. */
function isAccessRequest(req: IncomingMessage, { kind }: MediaAddress): boolean {
  if (kind === "file") return false;
  return kind === "multivariant" || !req.headers.range || req.headers.range.startsWith("bytes=0-");
}

const ORIGIN = /^[a-z]+:\/\/[^/?#]{1,300}/i;

/** A request's origin as far as it is known without credentials: by that alone may answers differ. */
function originKey({ headers }: IncomingMessage, playbackId: string): string {
  const { origin = "", referer = "" } = headers;
  return `${playbackId} ${origin.slice(0, 300)} ${ORIGIN.exec(referer)?.[0] ?? ""}`;
}

const TKN = /[?&]tkn=([\w-]{1,64})(?:&|$)/;

/** The id that a public player gives itself. */
export function tknOf(url: string): string | null {
  return url.includes("tkn=") ? (TKN.exec(url)?.[1] ?? null) : null;
}
