/**
 * Viewer sessions: who was let in to gated content. A session begins with an access request that the gate granted, and is found by the token
 * in its addresses, or, for requests that bring their credential each time, by who they are.
 *
 *   granted   while the gate's answer stands: a request is a look-up and a comparison
 *   stale     the answer stood until a moment ago: requests are served while the gate is asked again in the background
 *   unsure    the answer is long over, the gate's rules changed, or the session came back from its token: requests wait for the gate
 *   withdrawn the gate said no, or the pass ended: refused for good
 *
 * Nothing is stored: a forgotten session, after a restart or on another node, goes on from its token.
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
import type { Viewer, ViewerCounts } from "./viewer-counts.ts";
import type { ViewerTokens } from "./viewer-token.ts";

/** Longer than a customer's webhook may take (5 s), so that its slowness holds up nobody who watches. */
const STALE_MS = 10_000;
/** Of tokens and identities together; who is forgotten goes on from their token. */
const MAX_SESSIONS = 40_000;
/** Of their tokens and access keys together: a viewer with a short key has some 300, with the longest 20,000. */
const MAX_CHARACTERS = 64 * 1024 * 1024;
const IDLE_MS = 10 * 60_000;
const SWEEP_MS = 60_000;

export interface ViewerSession {
  readonly playbackId: string;
  readonly pass: ViewerPass;
  readonly details: ViewerDetails;
  readonly viewer: Viewer;
  /** Null only until the first answer about a session that came back from its token. */
  content: PlaybackContent | null;
  /** Monotonic milliseconds until which the gate's answer stands. */
  standsUntil: number;
  /** When the pass itself is over. */
  readonly endsAt: number;
  usedAt: number;
  isWithdrawn: boolean;
  asking: Promise<boolean> | null;
}

export type Grant = Extract<PlaybackDecision, { ok: true }>;

export interface ViewerSessionsSettings {
  readonly clock: Clock;
  readonly gate: PlaybackGate;
  readonly tokens: ViewerTokens;
  readonly counts: ViewerCounts;
  readonly audiences: Audiences;
}

export class ViewerSessions {
  readonly #clock: Clock;
  readonly #gate: PlaybackGate;
  readonly #tokens: ViewerTokens;
  readonly #counts: ViewerCounts;
  readonly #audiences: Audiences;
  /** By token, and by identity. */
  readonly #sessions = new LRUCache<string, ViewerSession>({
    max: MAX_SESSIONS,
    maxSize: MAX_CHARACTERS,
    sizeCalculation: charactersOf,
  });
  readonly #sweep: Timer;
  /** Answers to questions that were asked before the last change do not stand. */
  #changes = 0;

  constructor({ clock, gate, tokens, counts, audiences }: ViewerSessionsSettings) {
    this.#clock = clock;
    this.#gate = gate;
    this.#tokens = tokens;
    this.#counts = counts;
    this.#audiences = audiences;
    this.#sweep = clock.every(SWEEP_MS, () => this.#forgetIdle());
  }

  /** Of whoever has this token or identity, as far as it is remembered. */
  find(key: string): ViewerSession | undefined {
    return this.#sessions.get(key);
  }

  /** A session for what the gate granted, of somebody new or of a known viewer. It is remembered from `remember` or `seal` on. */
  begin(
    playbackId: string,
    grant: Grant & { pass: ViewerPass },
    { details, asked, viewer }: { details: ViewerDetails; asked: number; viewer?: Viewer | undefined },
  ): ViewerSession {
    const session = this.#session(playbackId, grant.pass, details, viewer ?? this.#viewer(playbackId, details));
    session.content = grant.content;
    if (asked === this.#changes) session.standsUntil = this.#clock.monotonic() + grant.standsMs;
    return session;
  }

  /** The `asked` of `begin`: a number that changes whenever earlier answers are void. */
  get changes(): number {
    return this.#changes;
  }

  remember(key: string, session: ViewerSession): void {
    this.#sessions.set(key, session);
  }

  /** The session's token for its addresses. */
  seal(session: ViewerSession): string {
    const token = this.#tokens.seal(session.playbackId, { viewerId: session.viewer.id, pass: session.pass });
    this.remember(token, session);
    return token;
  }

  /** The session of a token that is not remembered, about which the gate is yet to be asked. Null for what is no token of ours. */
  reopen(playbackId: string, token: string, details: ViewerDetails): ViewerSession | null {
    const sealed = this.#tokens.open(playbackId, token);
    if (!sealed) return null;
    const { viewerId: id, pass } = sealed;
    const session = this.#session(playbackId, pass, details, this.#viewer(playbackId, details, id));
    this.remember(token, session);
    return session;
  }

  /** Whether a request of the session may be answered; null when the gate has to say first. */
  admits(session: ViewerSession): boolean | null {
    const now = this.#clock.monotonic();
    if (session.isWithdrawn || now >= session.endsAt) return false;
    session.usedAt = now;
    if (now < session.standsUntil) return true;
    if (now >= session.standsUntil + STALE_MS) return null;
    // The next request that has to wait hears of what went wrong.
    this.ask(session).catch(() => {});
    return true;
  }

  /** Ask the gate again, once for all who want to know. */
  ask(session: ViewerSession): Promise<boolean> {
    session.asking ??= this.#recheck(session).finally(() => {
      session.asking = null;
    });
    return session.asking;
  }

  accessChanged(playbackId: string | "all"): void {
    this.#changes++;
    for (const session of this.#sessions.values()) {
      if (playbackId === "all" || session.playbackId === playbackId) session.standsUntil = Number.NEGATIVE_INFINITY;
    }
  }

  close(): void {
    this.#sweep.cancel();
  }

  async #recheck(session: ViewerSession): Promise<boolean> {
    const { playbackId, pass, details } = session;
    if (session.isWithdrawn || this.#clock.monotonic() >= session.endsAt) return false;
    const asked = this.#changes;
    const decision = await this.#gate.recheck(playbackId, pass, details);
    if (!decision.ok) {
      // Unconfirmed is refused for now: the next request asks again.
      session.isWithdrawn = decision.reason === "denied";
      return false;
    }
    session.content = decision.content;
    if (asked === this.#changes) session.standsUntil = this.#clock.monotonic() + decision.standsMs;
    return true;
  }

  /** With an `id`, a viewer who began on another node or before a restart. */
  #viewer(playbackId: string, { address, userAgent }: ViewerDetails, id?: string): Viewer {
    const audience = this.#audiences.of(userAgent, address);
    return this.#counts.viewer(playbackId, clientOf(address), id === undefined ? { audience } : { id, audience });
  }

  #session(playbackId: string, pass: ViewerPass, details: ViewerDetails, viewer: Viewer): ViewerSession {
    const now = this.#clock.monotonic();
    const endsAt = "expiresAt" in pass ? now + pass.expiresAt - this.#clock.now() : Number.POSITIVE_INFINITY;
    return {
      playbackId,
      pass,
      details,
      viewer,
      content: null,
      standsUntil: Number.NEGATIVE_INFINITY,
      endsAt,
      usedAt: now,
      isWithdrawn: false,
      asking: null,
    };
  }

  #forgetIdle(): void {
    const idle = this.#clock.monotonic() - IDLE_MS;
    for (const [key, session] of [...this.#sessions.entries()]) if (session.usedAt < idle) this.#sessions.delete(key);
  }
}

function charactersOf({ pass }: ViewerSession, key: string): number {
  return key.length + (pass.kind === "webhook" ? pass.accessKey.length : 0);
}
