import type {
  PlaybackContent,
  PlaybackDecision,
  PlaybackGate,
  PlaybackRequest,
  ViewerDetails,
  ViewerPass,
} from "../../ports/index.ts";

const PROJECT = "project-1";
const CONTENT: Readonly<Record<string, PlaybackContent>> = {
  playstream1: { kind: "live", streamId: "stream-1", projectId: PROJECT },
  recording1: { kind: "recording", id: "session-1", projectId: PROJECT },
};

/**
 * Knows `playstream1`, which is live, and `recording1`, its recording; denies all else. Both are public until
 * `policy` says otherwise; then whoever has one token or access key of `allowed` is let in.
 */
export class FakePlaybackGate implements PlaybackGate {
  policy: "public" | "jwt" | "webhook" = "public";
  readonly allowed = new Set<string>(["good"]);
  /** Origins that may watch; null for any. */
  origins: readonly string[] | null = null;
  expiresInMs = 5000;
  isFull = false;
  expiresAt = Date.UTC(2031, 0, 1);
  /** The answer of `recheck` where it neither lets in nor refuses. */
  unknown: "away" | "unconfirmed" | null = null;
  /** Set to make `recheck` wait. */
  hold: Promise<void> = Promise.resolve();
  /** Playback ids of recordings that were deleted. */
  readonly gone = new Set<string>();
  readonly opened: PlaybackRequest[] = [];
  /** Streams that were asked for while they were not live. */
  readonly wanted: string[] = [];
  onlyWhileWatched = false;
  readonly rechecked: { readonly pass: ViewerPass; readonly viewer: ViewerDetails }[] = [];
  async open(request: PlaybackRequest): Promise<PlaybackDecision> {
    this.opened.push(request);
    const { playbackId, viewer } = request;
    const asOwner: ViewerPass = { kind: "owner", expiresAt: this.expiresAt };
    if (request.tokens.includes("owner.good")) return this.#answer(playbackId, asOwner, true);
    const isOrigin = this.origins === null || this.origins.includes(viewer.origin ?? "");
    if (this.policy === "public") return this.#answer(playbackId, null, isOrigin);
    const [credential, ...others] = this.policy === "jwt" ? request.tokens : request.accessKeys;
    const isAllowed = credential !== undefined && others.length === 0 && this.allowed.has(credential) && isOrigin;
    return this.#answer(playbackId, passOf(this.policy, credential ?? "", this.expiresAt), isAllowed);
  }

  want(streamId: string): void {
    this.wanted.push(streamId);
  }

  async recheck(playbackId: string, pass: ViewerPass, viewer: ViewerDetails): Promise<PlaybackDecision> {
    this.rechecked.push({ pass, viewer });
    await this.hold;
    if (this.unknown === "away") throw new Error("the database is away");
    if (this.unknown === "unconfirmed") return { ok: false, reason: "unconfirmed" };
    if (pass.kind === "owner") return this.#answer(playbackId, pass, true);
    const credential = pass.kind === "jwt" ? pass.signingKeyId : pass.accessKey;
    return this.#answer(playbackId, pass, this.policy === pass.kind && this.allowed.has(credential));
  }

  #answer(playbackId: string, pass: ViewerPass | null, isAllowed: boolean): PlaybackDecision {
    const known = CONTENT[playbackId];
    const content: PlaybackContent | undefined =
      known?.kind === "live" && this.onlyWhileWatched ? { ...known, onlyWhileWatched: true } : known;
    if (!content || !isAllowed) return { ok: false, reason: "denied" };
    if (this.gone.has(playbackId)) return { ok: false, reason: "gone" };
    const { expiresInMs, isFull } = this;
    return { ok: true, content, pass, expiresInMs, perOrigin: this.origins !== null, isFull };
  }
}

/** The credential stands in for the signing key. */
function passOf(kind: "jwt" | "webhook", credential: string, expiresAt: number): ViewerPass {
  return kind === "jwt" ? { kind, signingKeyId: credential, expiresAt } : { kind, accessKey: credential };
}
