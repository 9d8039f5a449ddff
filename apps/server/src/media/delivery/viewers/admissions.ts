import { hash } from "node:crypto";
import type { Audiences } from "../../../platform/audience/index.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { TrustedProxies } from "../../../platform/http/trusted-proxies.ts";
import { DeniedClients } from "../../../platform/limits/denied-clients.ts";
import type { EventSink, PlaybackGate, ViewerPass } from "../../../ports/index.ts";
import { type AccessRequest, isByOwner, originKey, viewerDetails } from "./access-request.ts";
import { type Admission, type AdmissionOffice, type Admitted, type Refusal, RequestAdmission } from "./admission.ts";
import { type PlaybackCredentials, readCredentials } from "./playback-credentials.ts";
import { PublicAnswers } from "./public-answers.ts";
import { ViewerArrivals } from "./viewer-arrivals.ts";
import { ViewerCounts } from "./viewer-counts.ts";
import { type Grant, type ViewerSession, ViewerSessions } from "./viewer-sessions.ts";
import { ViewerTokens } from "./viewer-token.ts";

/**
 * Limits of gate queries per client: many viewers behind one address may all be too early for a broadcast, or arrive at the same moment. They must
 * leave some of the 500 database slots to others.
 */
const QUESTIONS = { deniedPerMinute: 600, atOnce: 400, slowed: { atOnce: 8, perSecond: 50 } } as const;

type Answer = Admitted | Refusal;

export interface AdmissionsSettings {
  readonly clock: Clock;
  readonly gate: PlaybackGate;
  readonly eventSink: EventSink;
  /** 32 bytes, the same on every node. */
  readonly viewerSecret: Uint8Array;
  readonly proxies: TrustedProxies;
  /** Maximum number of viewers counted per client. */
  readonly viewersPerClient: number;
  readonly audiences: Audiences;
}

/**
 * Decides who may watch: public content by a decision cached for all viewers, gated content by a viewer session. The decision on an `open` request
 * applies to everything that follows.
 */
export class Admissions {
  readonly #gate: PlaybackGate;
  readonly #proxies: TrustedProxies;
  readonly #counts: ViewerCounts;
  readonly #publicAnswers: PublicAnswers;
  readonly #sessions: ViewerSessions;
  readonly #denied: DeniedClients;
  readonly #office: AdmissionOffice;
  /** Concurrent requests for the same decision share one query. */
  readonly #asking = new Map<string, Promise<Answer>>();

  constructor(settings: AdmissionsSettings) {
    const { clock, gate, eventSink, viewerSecret, proxies, viewersPerClient, audiences } = settings;
    this.#gate = gate;
    this.#proxies = proxies;
    this.#counts = new ViewerCounts(clock, eventSink, viewersPerClient);
    this.#publicAnswers = new PublicAnswers(clock);
    this.#denied = new DeniedClients({ clock, ...QUESTIONS });
    const tokens = new ViewerTokens(viewerSecret);
    this.#sessions = new ViewerSessions({ clock, gate, tokens, counts: this.#counts, audiences });
    const arrivals = new ViewerArrivals(proxies, this.#counts, audiences);
    this.#office = {
      count: (request, admitted) => arrivals.count(request, admitted),
      seal: (session) => this.#sessions.seal(session),
      stillAllowed: async (request, session) => {
        const answer = await this.#askedAgain(request, session);
        return typeof answer === "object" && arrivals.count(request, { ...answer, isFull: false });
      },
    };
  }

  /** Synchronous if the decision is cached and valid; otherwise a promise, which rejects if the gate does not respond. */
  admit(request: AccessRequest): Admission | Refusal | Promise<Admission | Refusal> {
    const known = this.#known(request);
    return known ? this.#admission(request, known) : this.#askLimited(request);
  }

  /** Discards cached decisions about this playback id, or about all. */
  accessChanged(playbackId: string | "all"): void {
    this.#publicAnswers.clear();
    this.#sessions.accessChanged(playbackId);
  }

  close(): void {
    this.#counts.close();
    this.#sessions.close();
  }

  #admission(request: AccessRequest, answer: Answer): Admission | Refusal {
    return typeof answer === "string" ? answer : new RequestAdmission(this.#office, request, answer);
  }

  /** The cached decision if valid; null if the gate must be asked. */
  #known(request: AccessRequest): Admitted | "denied" | null {
    const { playbackId, token } = request;
    if (token !== null) {
      const session = this.#sessions.find(token);
      return session?.playbackId === playbackId ? this.#admit(session, true) : null;
    }
    if (isByOwner(request)) return null;
    const forAll = this.#publicAnswers.find(playbackId);
    const answer = forAll ?? this.#publicAnswers.find(originKey(request));
    return answer && { content: answer.content, session: null, isFull: answer.isFull, isShared: forAll !== null };
  }

  /**
   * Asks the gate. A client with too many denials is rate-limited, except for viewers known to be watching and content that was recently public: a
   * neighbour's guesses must not delay others' segments.
   */
  async #askLimited(request: AccessRequest): Promise<Admission | Refusal> {
    const limit = (open: () => Promise<Answer>) => this.#denied.ask(this.#proxies.clientOf(request.req), open);
    return this.#admission(request, await this.#ask(request, limit));
  }

  #askedAgain(request: AccessRequest, session: ViewerSession | null): Answer | Promise<Answer> {
    if (session) return this.#admit(session, false) ?? this.#askAbout(session, false);
    return this.#known(request) ?? this.#ask(request, (open) => open());
  }

  async #ask(request: AccessRequest, limit: (open: () => Promise<Answer>) => Promise<Answer>): Promise<Answer> {
    const { req, url, playbackId, token, step } = request;
    if (token !== null) return this.#askByToken(request, token);
    const credentials = readCredentials(req, url);
    if (credentials === "invalid") return "invalid-credential";
    const isBare = credentials.tokens.length === 0 && credentials.accessKeys.length === 0;
    const identity = isBare ? undefined : this.#identity(request, credentials);
    const isOpening = !isBare && step === "open";
    const session = identity === undefined || isOpening ? undefined : this.#sessions.find(identity);
    if (session) return this.#admit(session, false) ?? this.#askAbout(session, false);
    const open = () => this.#open(request, credentials, identity);
    if (isOpening) return limit(open);
    const key = identity ?? originKey(request);
    const isNoGuess = isBare && (this.#publicAnswers.isKept(playbackId) || this.#publicAnswers.isKept(key));
    // The limit is inside the shared query, so that waiting for another request's query costs nothing.
    return this.#share(key, isNoGuess ? open : () => limit(open));
  }

  #admit(session: ViewerSession, isShared: boolean): Admitted | "denied" | null {
    const admits = this.#sessions.admits(session);
    if (admits === false) return "denied";
    return admits && session.content ? { content: session.content, session, isFull: false, isShared } : null;
  }

  async #askAbout(session: ViewerSession, isShared: boolean): Promise<Admitted | "denied"> {
    const isAdmitted = await this.#sessions.ask(session);
    return isAdmitted && session.content ? { content: session.content, session, isFull: false, isShared } : "denied";
  }

  async #askByToken(request: AccessRequest, token: string): Promise<Answer> {
    const { playbackId } = request;
    const found = this.#sessions.find(token);
    const session =
      found?.playbackId === playbackId
        ? found
        : this.#sessions.reopen(playbackId, token, viewerDetails(request, this.#proxies));
    return session ? this.#askAbout(session, true) : "denied";
  }

  async #open(request: AccessRequest, credentials: PlaybackCredentials, identity?: string): Promise<Answer> {
    const { playbackId, protocol } = request;
    const details = viewerDetails(request, this.#proxies);
    const asked = this.#sessions.changes;
    const decision = await this.#gate.open({ playbackId, ...credentials, viewer: details });
    if (!decision.ok) return decision.reason === "gone" ? "gone" : "denied";
    const { content, isFull, perOrigin } = decision;
    if (!isGated(decision)) {
      const key = perOrigin ? originKey(request) : playbackId;
      if (asked === this.#sessions.changes) this.#publicAnswers.keep(key, decision);
      return { content, session: null, isFull, isShared: !perOrigin };
    }
    const known = identity === undefined ? undefined : this.#sessions.find(identity)?.viewer;
    if (isFull && !known?.tally && decision.pass.kind !== "owner") return "denied";
    const session = this.#sessions.begin(playbackId, decision, {
      details,
      asked,
      // Players request the start of a file more than once.
      viewer: protocol === "mp4" ? known : undefined,
    });
    if (identity !== undefined) this.#sessions.remember(identity, session);
    return { content, session, isFull, isShared: false };
  }

  #share(key: string, ask: () => Promise<Answer>): Promise<Answer> {
    const asking = this.#asking.get(key) ?? ask().finally(() => this.#asking.delete(key));
    this.#asking.set(key, asking);
    return asking;
  }

  /** The identity of a viewer who sends credentials with each request. */
  #identity({ req, playbackId }: AccessRequest, { tokens, accessKeys }: PlaybackCredentials): string {
    const who = [playbackId, this.#proxies.addressOf(req), req.headers["user-agent"], tokens, accessKeys];
    // No token starts with a slash.
    return `/${hash("sha256", JSON.stringify(who), "base64url")}`;
  }
}

function isGated(decision: Grant): decision is Grant & { pass: ViewerPass } {
  return decision.pass !== null;
}
