import { hash } from "node:crypto";
import type { Audiences } from "../../../platform/audience/index.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { OtherNodes } from "../../../platform/cluster/index.ts";
import { DeniedClients } from "../../../platform/limits/denied-clients.ts";
import type { Log } from "../../../platform/log.ts";
import { SharedWork } from "../../../platform/shared-work.ts";
import type { EventSink, LiveContent, PlaybackContent, PlaybackGate, ViewerPass } from "../../../ports/index.ts";
import { type AccessRequest, isByOwner, originKey, type PlaybackCredentials, tknOf } from "./access-request.ts";
import { type Admission, NOBODY, type Refusal, type Viewing } from "./admission.ts";
import { CountingNodes, type ToldViewer } from "./counting-nodes.ts";
import type { GivenAdmission, HandOver } from "./given-admission.ts";
import { LastingViewings } from "./lasting-viewings.ts";
import { PublicAnswers } from "./public-answers.ts";
import { PublicViewers } from "./public-viewers.ts";
import { ViewerCounts } from "./viewer-counts.ts";
import { type Admitted, type Grant, type ViewerSession, ViewerSessions } from "./viewer-sessions.ts";
import { ViewerTokens } from "./viewer-token.ts";

/**
 * Limits of gate queries per client: many viewers behind one address may all be too early for a broadcast, or arrive at the same moment. They must
 * leave some of the 500 database slots to others.
 */
const QUESTIONS = { deniedPerMinute: 600, atOnce: 400, slowed: { atOnce: 8, perSecond: 50 } } as const;

type Decision = Admitted | Refusal;

export interface AdmissionsSettings {
  readonly clock: Clock;
  readonly log: Log;
  readonly playbackGate: PlaybackGate;
  readonly eventSink: EventSink;
  /** 32 bytes that viewer tokens are sealed with; the same on every node and after a restart. */
  readonly viewerSecret: Uint8Array;
  /** Maximum number of viewers counted per client. */
  readonly viewersPerClient: number;
  readonly audiences: Audiences;
  /** Null where nodes do not reach each other. */
  readonly others: OtherNodes | null;
}

/**
 * Decides who may watch, for every protocol, so that a viewer is counted once: public content by a decision cached for all viewers, gated content by
 * a viewer session. The decision on an `open` request applies to everything that follows.
 */
export class Admissions {
  readonly #gate: PlaybackGate;
  readonly #counts: ViewerCounts;
  readonly #publicAnswers: PublicAnswers;
  readonly #publicViewers: PublicViewers;
  readonly #sessions: ViewerSessions;
  readonly #lasting: LastingViewings;
  readonly #denied: DeniedClients;
  /** Concurrent requests for the same decision share one query. */
  readonly #asking = new SharedWork<Decision>();

  constructor(settings: AdmissionsSettings) {
    const { clock, log, playbackGate, eventSink, viewerSecret, viewersPerClient, audiences, others } = settings;
    const nodes = others && new CountingNodes({ others, clock, log });
    this.#gate = playbackGate;
    this.#counts = new ViewerCounts(clock, eventSink, viewersPerClient, nodes);
    this.#publicAnswers = new PublicAnswers(clock);
    this.#lasting = new LastingViewings(clock);
    this.#denied = new DeniedClients({ clock, ...QUESTIONS });
    const tokens = new ViewerTokens(viewerSecret);
    this.#sessions = new ViewerSessions({ clock, gate: playbackGate, tokens, counts: this.#counts, audiences });
    this.#publicViewers = new PublicViewers(this.#counts, audiences);
  }

  /** Synchronous if the decision is cached and valid; otherwise a promise, which rejects if the gate does not respond. */
  admit(request: AccessRequest): Admission | Refusal | Promise<Admission | Refusal> {
    const decision = this.#decide(request, true);
    if (decision instanceof Promise) return decision.then((later) => this.#admission(request, later));
    return this.#admission(request, decision);
  }

  /** Access rules changed: cached decisions about this playback id, or about all, are discarded, and its viewers are checked. */
  accessChanged(playbackId: string | "all"): void {
    this.#publicAnswers.clear();
    this.#sessions.accessChanged(playbackId);
    this.#lasting.accessChanged(playbackId);
  }

  /** Counts the viewer of an admitted request. False for a new viewer when the stream is full. */
  count(request: AccessRequest, { session, isFull }: Admitted): boolean {
    if (request.isProbe) return true;
    if (!session) return this.#publicViewers.count(request, isFull);
    if (session.pass.kind !== "owner") this.#counts.see(session.viewer);
    return true;
  }

  /** Viewers of another node, whom this one counts. */
  countElsewhere(told: readonly ToldViewer[]): void {
    this.#counts.seeElsewhere(told);
  }

  /** An admitted viewer found the stream not live. Whoever counts as no viewer does not start a pull either. */
  missed(request: AccessRequest, { content, session }: Admitted): void {
    if (content.kind !== "live" || !content.onlyWhileWatched) return;
    if (!request.isProbe && session?.pass.kind !== "owner" && !isByOwner(request)) this.#gate.want(content.streamId);
  }

  /** The session's token for addresses. */
  seal(session: ViewerSession): string {
    return this.#sessions.seal(session);
  }

  /** As `Viewing.whileAllowed`, of an admitted request. */
  whileAllowed(request: AccessRequest, session: ViewerSession | null, end: () => void): () => void {
    const isAllowed = async (hasChanged: boolean): Promise<boolean> => {
      if (session && hasChanged) this.#sessions.doubt(session);
      const decision = await (session ? this.#sessions.decide(session, false) : this.#decideHere(request, false));
      return typeof decision === "object" && this.count(request, { ...decision, isFull: false });
    };
    return this.#lasting.add({ playbackId: request.address.playbackId, isAllowed, end });
  }

  close(): void {
    this.#counts.close();
    this.#sessions.close();
    this.#lasting.close();
  }

  #admission(request: AccessRequest, decision: Decision): Admission | Refusal {
    return typeof decision === "string" ? decision : new RequestAdmission(this, request, decision);
  }

  /** As another node decided a moment ago, or as this one does. */
  #decide(request: AccessRequest, isLimited: boolean): Decision | Promise<Decision> {
    return request.given ? this.#take(request, request.given) : this.#decideHere(request, isLimited);
  }

  /** By the token in the address, or a cached decision about public content, or else by the request's credentials. */
  #decideHere(request: AccessRequest, isLimited: boolean): Decision | Promise<Decision> {
    const { token } = request.address;
    if (token === null) return this.#publicAnswers.find(request) ?? this.#byCredentials(request, isLimited);
    const session = this.#sessions.ofToken(token, request);
    return session ? this.#sessions.decide(session, true) : "denied";
  }

  /** Fails closed: for other content than the one that was decided on, or a session that was withdrawn here. */
  #take(request: AccessRequest, { playbackId, content, token, isNew, isFull, isShared }: GivenAdmission): Decision {
    if (playbackId !== request.address.playbackId) return "denied";
    if (token === NOBODY) return { content, session: null, isFull, isShared };
    const session = this.#sessions.ofToken(token, request, isNew);
    if (!session || !this.#sessions.confirm(session, content)) return "denied";
    return { content, session, isFull, isShared };
  }

  async #byCredentials(request: AccessRequest, isLimited: boolean): Promise<Decision> {
    const credentials = request.credentials();
    if (credentials === "invalid") return "invalid-credential";
    if (credentials.tokens.length === 0 && credentials.accessKeys.length === 0) {
      // A neighbour's guesses must not delay others' segments: content that was public a moment ago is no guess.
      const isGuess = isLimited && !this.#publicAnswers.isKept(request);
      return this.#asking.run(() => this.#open(request, credentials, null, isGuess), originKey(request));
    }
    const identity = identityOf(request, credentials);
    if (request.step === "open") return this.#open(request, credentials, identity, isLimited);
    const session = this.#sessions.find(identity);
    if (session) return this.#sessions.decide(session, false);
    // The limit is inside the shared query, so that waiting for another request's query costs nothing.
    return this.#asking.run(() => this.#open(request, credentials, identity, isLimited), identity);
  }

  /** Asks the gate; a client with too many denials has to wait. */
  #open(
    request: AccessRequest,
    credentials: PlaybackCredentials,
    identity: string | null,
    isLimited: boolean,
  ): Promise<Decision> {
    const ask = () => this.#askGate(request, credentials, identity);
    return isLimited ? this.#denied.ask<Decision>(request.client, ask) : ask();
  }

  async #askGate(
    request: AccessRequest,
    credentials: PlaybackCredentials,
    identity: string | null,
  ): Promise<Admitted | "gone" | "denied"> {
    const { playbackId, protocol } = request.address;
    const details = request.details();
    const asked = this.#sessions.changes;
    const decision = await this.#gate.open({ playbackId, ...credentials, viewer: details });
    if (!decision.ok) return decision.reason === "gone" ? "gone" : "denied";
    const { content, isFull, perOrigin } = decision;
    if (!isGated(decision)) {
      if (asked === this.#sessions.changes) this.#publicAnswers.keep(request, decision);
      return { content, session: null, isFull, isShared: !perOrigin };
    }
    const known = identity === null ? undefined : this.#sessions.find(identity)?.viewer;
    if (isFull && !known?.tally && decision.pass.kind !== "owner") return "denied";
    const session = this.#sessions.begin(playbackId, decision, {
      details,
      asked,
      // Players request the start of a file more than once, and at more than one node.
      ...(protocol === "mp4" && identity !== null && { viewer: known, key: identity }),
    });
    if (identity !== null) this.#sessions.remember(identity, session);
    return { content, session, isFull, isShared: false };
  }
}

/** The identity of a viewer who sends credentials with each request. */
function identityOf(request: AccessRequest, { tokens, accessKeys }: PlaybackCredentials): string {
  const who = [request.address.playbackId, request.remoteAddress, request.userAgent, tokens, accessKeys];
  // No token starts with a slash.
  return `/${hash("sha256", JSON.stringify(who), "base64url")}`;
}

function isGated(decision: Grant): decision is Grant & { pass: ViewerPass } {
  return decision.pass !== null;
}

/** One object in both roles, to save an allocation per segment. */
class RequestAdmission implements Admission, Viewing {
  readonly #admissions: Admissions;
  readonly #request: AccessRequest;
  readonly #admitted: Admitted;
  #token: string | null = null;

  constructor(admissions: Admissions, request: AccessRequest, admitted: Admitted) {
    this.#admissions = admissions;
    this.#request = request;
    this.#admitted = admitted;
  }

  get content(): PlaybackContent {
    return this.#admitted.content;
  }

  get isShared(): boolean {
    return this.#admitted.isShared;
  }

  get token(): string {
    const { session } = this.#admitted;
    this.#token ??= session ? this.#admissions.seal(session) : NOBODY;
    return this.#token;
  }

  get playerId(): string | null {
    return this.#admitted.session ? null : tknOf(this.#request.url);
  }

  handOver({ kind, streamId, projectId }: LiveContent): HandOver {
    const { playbackId } = this.#request.address;
    const { isFull, isShared, session } = this.#admitted;
    const isNew = session?.viewer.hasBegun === false;
    const content = { kind, streamId, projectId };
    const given: GivenAdmission = { playbackId, content, token: this.token, isNew, isFull, isShared };
    const counted = () => {
      if (session) session.viewer.hasBegun = true;
    };
    return { admitted: JSON.stringify(given), counted };
  }

  countViewer(): Viewing | null {
    return this.#admissions.count(this.#request, this.#admitted) ? this : null;
  }

  missed(): void {
    this.#admissions.missed(this.#request, this.#admitted);
  }

  whileAllowed(end: () => void): () => void {
    return this.#admissions.whileAllowed(this.#request, this.#admitted.session, end);
  }
}
