/**
 * Viewer sessions: the admissions of viewers to gated content. A session begins with an access request that the gate granted. It is found by the
 * token in its URLs or, for requests that send their credentials each time, by the viewer's identity.
 *
 *   granted   the gate's decision is valid: a request costs a look-up and a comparison
 *   stale     the decision has just expired: requests are served while the gate is asked again in the background
 *   unsure    the decision expired long ago, access rules changed, or the session was restored from its token: requests wait for the gate
 *   withdrawn the gate denied access, or the pass expired: refused for good
 *
 * Nothing is stored: after a restart, or on another node, a session is restored from its token.
 */
import { LRUCache } from "lru-cache";
import type { Audiences } from "../../../platform/audience/index.ts";
import type { Clock, Timer } from "../../../platform/clock.ts";
import { clientOf } from "../../../platform/limits/client.ts";
import type {
  PlaybackContent,
  PlaybackDecision,
  PlaybackGate,
  ViewerDetails,
  ViewerPass,
} from "../../../ports/index.ts";
import type { AccessRequest } from "./access-request.ts";
import type { Viewer, ViewerCounts } from "./viewer-counts.ts";
import type { ViewerTokens } from "./viewer-token.ts";

/** Longer than the timeout of a customer's webhook (5 s), so that a slow webhook interrupts no viewer. */
const STALE_MS = 10_000;
/** Entries by token and by identity together. A forgotten viewer is restored from the token. */
const MAX_SESSIONS = 40_000;
/** Total length of tokens and access keys: about 300 per viewer with a short key, 20,000 with the longest. */
const MAX_CHARACTERS = 64 * 1024 * 1024;
/** How long another node's decision is valid here. */
const CONFIRMED_MS = 3_000;
const IDLE_MS = 10 * 60_000;
const SWEEP_MS = 60_000;

export interface ViewerSession {
  readonly playbackId: string;
  readonly pass: ViewerPass;
  readonly details: ViewerDetails;
  readonly viewer: Viewer;
  /** Null only for a restored session until the first decision. */
  content: PlaybackContent | null;
  /** Monotonic time until which the gate's decision is valid. */
  validUntil: number;
  /** Monotonic time at which the pass expires. */
  readonly endsAt: number;
  usedAt: number;
  isWithdrawn: boolean;
  /** Its token, once it has been sealed or restored from one. */
  token: string | null;
  asking: Promise<boolean> | null;
}

/** The gate's decision and its viewer session. */
export interface Admitted {
  readonly content: PlaybackContent;
  /** Only the URL identifies the viewer. */
  readonly isShared: boolean;
  /** Null for public content. */
  readonly session: ViewerSession | null;
  /** True if no new viewers are admitted. */
  readonly isFull: boolean;
}

export type Grant = Extract<PlaybackDecision, { ok: true }>;

/** Whom the gate let in, and in answer to which question. */
interface BegunBy {
  readonly details: ViewerDetails;
  readonly asked: number;
  readonly viewer?: Viewer | undefined;
  /** By which other nodes know the viewer; by default its session's own. */
  readonly key?: string;
}

export interface ViewerSessionsSettings {
  readonly clock: Clock;
  readonly gate: PlaybackGate;
  readonly tokens: ViewerTokens;
  readonly counts: ViewerCounts;
  readonly audiences: Audiences;
}

export class ViewerSessions {
  readonly #settings: ViewerSessionsSettings;
  /** By token, and by identity. */
  readonly #sessions = new LRUCache<string, ViewerSession>({
    max: MAX_SESSIONS,
    maxSize: MAX_CHARACTERS,
    sizeCalculation: charactersOf,
  });
  readonly #sweep: Timer;
  /** Decisions requested before the last change are not valid. */
  #changes = 0;

  constructor(settings: ViewerSessionsSettings) {
    this.#settings = settings;
    this.#sweep = settings.clock.every(SWEEP_MS, () => this.#forgetIdle());
  }

  /** The session of this token or identity, if remembered. */
  find(key: string): ViewerSession | undefined {
    return this.#sessions.get(key);
  }

  /** Creates a session from the gate's grant, for a new or known viewer. It is remembered from `remember` or `seal` on. */
  begin(
    playbackId: string,
    grant: Grant & { pass: ViewerPass },
    { details, asked, viewer, key }: BegunBy,
  ): ViewerSession {
    const known = viewer ?? this.#viewer(playbackId, details, key === undefined ? {} : { key });
    const session = this.#session(playbackId, grant.pass, details, known);
    session.content = grant.content;
    if (asked === this.#changes) session.validUntil = this.#settings.clock.monotonic() + grant.expiresInMs;
    return session;
  }

  /** The value for `asked` in `begin`: it changes whenever earlier decisions become invalid. */
  get changes(): number {
    return this.#changes;
  }

  remember(key: string, session: ViewerSession): void {
    this.#sessions.set(key, session);
  }

  /** The session's token for its URLs. */
  seal(session: ViewerSession): string {
    const { playbackId, viewer, pass } = session;
    session.token ??= this.#settings.tokens.seal(playbackId, { viewerId: viewer.id, pass });
    this.remember(session.token, session);
    return session.token;
  }

  /**
   * The session of the token in a request's address. One that is not remembered is restored, `unsure`; with `isNew`, of a viewer whom no node has counted.
   * Null for an invalid token.
   */
  ofToken(token: string, request: AccessRequest, isNew = false): ViewerSession | null {
    const { playbackId } = request.address;
    const known = this.find(token);
    if (known?.playbackId === playbackId) return known;
    const sealed = this.#settings.tokens.open(playbackId, token);
    if (!sealed) return null;
    const details = request.details();
    const viewer = this.#viewer(playbackId, details, { id: sealed.viewerId });
    viewer.hasBegun = !isNew;
    const session = this.#session(playbackId, sealed.pass, details, viewer);
    session.token = token;
    this.remember(token, session);
    return session;
  }

  /** Decides on a request of the session; a promise if the gate must be asked first. */
  decide(session: ViewerSession, isShared: boolean): Admitted | "denied" | Promise<Admitted | "denied"> {
    const isAllowed = this.#isAllowed(session);
    if (isAllowed === null) return this.#ask(session).then((isAdmitted) => decisionOf(session, isAdmitted, isShared));
    return decisionOf(session, isAllowed, isShared);
  }

  /** Another node's gate has just let the viewer in. False if this one's refused for good. */
  confirm(session: ViewerSession, content: PlaybackContent): boolean {
    const now = this.#settings.clock.monotonic();
    if (session.isWithdrawn || now >= session.endsAt) return false;
    session.usedAt = now;
    session.content = content;
    session.validUntil = Math.max(session.validUntil, now + CONFIRMED_MS);
    return true;
  }

  /** Null if the gate must be asked first. */
  #isAllowed(session: ViewerSession): boolean | null {
    const now = this.#settings.clock.monotonic();
    if (session.isWithdrawn || now >= session.endsAt) return false;
    session.usedAt = now;
    if (now < session.validUntil) return true;
    if (now >= session.validUntil + STALE_MS) return null;
    // The next request that has to wait gets the error.
    this.#ask(session).catch(() => {});
    return true;
  }

  /** Asks the gate again, once for all waiting requests. */
  #ask(session: ViewerSession): Promise<boolean> {
    session.asking ??= this.#recheck(session).finally(() => {
      session.asking = null;
    });
    return session.asking;
  }

  accessChanged(playbackId: string | "all"): void {
    this.#changes++;
    for (const session of this.#sessions.values()) {
      if (playbackId === "all" || session.playbackId === playbackId) this.doubt(session);
    }
  }

  /** Requests of the session wait for the gate, also if it is not remembered. */
  doubt(session: ViewerSession): void {
    session.validUntil = Number.NEGATIVE_INFINITY;
  }

  close(): void {
    this.#sweep.cancel();
  }

  async #recheck(session: ViewerSession): Promise<boolean> {
    const { playbackId, pass, details } = session;
    if (session.isWithdrawn || this.#settings.clock.monotonic() >= session.endsAt) return false;
    const asked = this.#changes;
    const decision = await this.#settings.gate.recheck(playbackId, pass, details);
    if (!decision.ok) {
      // An unconfirmed session is refused for now; the next request asks again.
      session.isWithdrawn = decision.reason === "denied";
      return false;
    }
    session.content = decision.content;
    if (asked === this.#changes) session.validUntil = this.#settings.clock.monotonic() + decision.expiresInMs;
    return true;
  }

  /** With an `id`: a viewer who started on another node or before a restart. With a `key`: one whom other nodes know by it. */
  #viewer(
    playbackId: string,
    { address, userAgent }: ViewerDetails,
    known: { readonly id?: string; readonly key?: string },
  ): Viewer {
    const audience = this.#settings.audiences.of(userAgent, address);
    return this.#settings.counts.viewer(playbackId, clientOf(address), { ...known, audience });
  }

  #session(playbackId: string, pass: ViewerPass, details: ViewerDetails, viewer: Viewer): ViewerSession {
    const now = this.#settings.clock.monotonic();
    const endsAt = "expiresAt" in pass ? now + pass.expiresAt - this.#settings.clock.now() : Number.POSITIVE_INFINITY;
    return {
      playbackId,
      pass,
      details,
      viewer,
      content: null,
      validUntil: Number.NEGATIVE_INFINITY,
      endsAt,
      usedAt: now,
      isWithdrawn: false,
      token: null,
      asking: null,
    };
  }

  #forgetIdle(): void {
    const idle = this.#settings.clock.monotonic() - IDLE_MS;
    for (const [key, session] of [...this.#sessions.entries()]) if (session.usedAt < idle) this.#sessions.delete(key);
  }
}

function decisionOf(session: ViewerSession, isAdmitted: boolean, isShared: boolean): Admitted | "denied" {
  const { content } = session;
  return isAdmitted && content ? { content, session, isFull: false, isShared } : "denied";
}

function charactersOf({ pass }: ViewerSession, key: string): number {
  return key.length + (pass.kind === "webhook" ? pass.accessKey.length : 0);
}
