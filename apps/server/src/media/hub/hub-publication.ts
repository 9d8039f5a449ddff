import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { Slices } from "../../platform/slices.ts";
import type { PublishGrant, SessionStart } from "../../ports/index.ts";
import type { Publication, PublicationEnd, PublisherHandle, SourcePacket, Track } from "../packet.ts";
import type { LiveSession } from "./live-session.ts";
import { SourcePace } from "./source-pace.ts";

/** Packets kept while the database creates the session. Beyond this, the sender waits. */
const MAX_EARLY_BYTES = 8 * 1024 * 1024;
/** The same for a sender that does not wait. */
const MAX_UNASKED_BYTES = 32 * 1024 * 1024;
/** What a packet costs beside its bytes. A publisher decides how small they are. */
const PACKET_BYTES = 512;
const LOOK_AGAIN_MS = 50;

export const TAKEN_OVER = "Another encoder took this stream over.";

/** Limit of a decoder configuration, which every init segment, journal and index repeats. Real ones have a few hundred bytes. */
const MAX_CONFIG_BYTES = 64 * 1024;

/** How a publisher is dismissed. */
interface Refusal {
  /** It may try again at once. */
  readonly mayReturn?: boolean;
  readonly as?: PublicationEnd;
}

export interface HubPublicationSettings {
  readonly clock: Clock;
  readonly log: Log;
  readonly slices: Slices;
  /** Makes it the owner; null if it may not be. */
  readonly begin: () => Promise<SessionStart | null>;
  readonly grant: PublishGrant;
  readonly publisher: PublisherHandle;
  /** The session that the publisher begins or goes on with; null if a newer publisher has it. */
  readonly sessionFor: (publication: HubPublication, start: SessionStart) => LiveSession | null;
  /** The publication ended while its session was being begun, or may have been: the database may take it for the owner. */
  readonly onEndedEarly: (why: PublicationEnd, reason: string) => void;
  readonly onClosed: (publication: HubPublication) => void;
}

/**
 * One publisher's place in the hub.
 *
 * *waiting* for the first keyframe or audio packet → *beginning* the session in the database while packets are kept → *live*, packets go to
 * the session → *closed*. An end that arrives during beginning takes effect right after it.
 */
export class HubPublication implements Publication {
  readonly grant: PublishGrant;
  readonly #settings: HubPublicationSettings;
  #state: "waiting" | "beginning" | "live" | "closed" = "waiting";
  #session: LiveSession | null = null;
  readonly #tracks = new Map<Track["id"], Track>();
  #early: (SourcePacket | Track)[] = [];
  #earlyBytes = 0;
  /** Of the early ones. */
  #sent = 0;
  readonly #pace = new SourcePace();
  /** What its end is to a session that is being begun. */
  #refusedAs: PublicationEnd = "clean-stop";
  #pendingEnd: { readonly why: PublicationEnd; readonly reason: string } | null = null;

  constructor(settings: HubPublicationSettings) {
    this.#settings = settings;
    this.grant = settings.grant;
  }

  track(track: Track): void {
    const { byteLength } = track.config;
    if (byteLength > MAX_CONFIG_BYTES) {
      const sizes = `${Math.ceil(byteLength / 1024)} KiB, of at most ${MAX_CONFIG_BYTES / 1024} KiB`;
      const reason = `The decoder configuration of the ${track.kind} is too large: ${sizes}.`;
      this.end("source-lost", reason);
      return this.#settings.publisher.close(reason);
    }
    if (this.#state === "live") this.#session?.track(track);
    else if (this.#state === "waiting") this.#tracks.set(track.id, track);
    else if (this.#state === "beginning") this.#keep(track, byteLength);
  }

  /** Its media has not begun. */
  get isWaiting(): boolean {
    return this.#state === "waiting";
  }

  get waitMs(): number {
    if (this.#state === "beginning" && this.#earlyBytes > MAX_EARLY_BYTES) return LOOK_AGAIN_MS;
    return this.#state === "closed" ? 0 : this.#pace.waitMs(this.#settings.clock.monotonic());
  }

  packet(packet: SourcePacket): void {
    this.#pace.packet(packet, this.#settings.clock.monotonic());
    if (this.#state === "live") {
      this.#session?.packet(packet);
      return;
    }
    if (this.#state === "closed" || this.#pendingEnd) return;
    if (this.#state === "waiting") {
      if (!packet.isIndependent || !this.#tracks.has(packet.trackId)) return;
      this.#state = "beginning";
      this.#early = [...this.#tracks.values()];
      void this.#begin();
    }
    this.#keep(packet, packet.data.byteLength);
  }

  /** Until the session has begun. */
  #keep(item: SourcePacket | Track, bytes: number): void {
    this.#early.push(item);
    this.#earlyBytes += bytes + PACKET_BYTES;
    if (this.#earlyBytes > MAX_UNASKED_BYTES)
      this.refuse("The source sends faster than the stream can begin. Send in real time (with ffmpeg: -re).");
  }

  end(why: PublicationEnd, reason: string): void {
    if (this.#state === "closed") return;
    if (this.#state === "beginning") {
      this.#pendingEnd ??= { why, reason };
      return;
    }
    const { epoch } = this.grant;
    if (why === "clean-stop") this.#session?.cleanStop(epoch, reason);
    else this.#session?.sourceLost(epoch, reason);
    this.#close();
  }

  /** The hub dismisses the publisher with a sentence it may read. From now on its packets are ignored. `as`: its end, to a session that is being begun. */
  refuse(reason: string, { mayReturn = false, as = "clean-stop" }: Refusal = {}): void {
    if (this.#state === "closed") return;
    this.#refusedAs = as;
    this.#close();
    this.#settings.publisher.close(reason, mayReturn);
  }

  async #begin(): Promise<void> {
    const { begin, log, slices, publisher } = this.#settings;
    let start: SessionStart | null;
    try {
      start = await begin();
    } catch (error) {
      log.error({ err: error, streamId: this.grant.streamId }, "could not start a session");
      this.#settings.onEndedEarly("source-lost", "could not start a session");
      return this.refuse("The server could not begin a session. Try again in a moment.", { mayReturn: true });
    }
    if (!this.#isBeginning) {
      if (start) this.#settings.onEndedEarly(this.#refusedAs, "let go while the session was being begun");
      return;
    }
    if (!start) return this.refuse("This stream was taken over by another encoder, or may no longer be published.");
    const session = this.#settings.sessionFor(this, start);
    if (!session) return this.refuse(TAKEN_OVER);
    this.#session = session;
    this.#session.attach(this.grant.epoch, {
      protocol: publisher.protocol,
      takeLink: () => publisher.takeLink?.() ?? null,
      get linkState() {
        return publisher.linkState ?? "";
      },
      get clockRepairs() {
        return publisher.clockRepairs;
      },
      get leftOut() {
        return publisher.leftOut;
      },
      close: (reason) => {
        // The rest of what came early is not sent any more.
        if (this.#isBeginning) this.#state = "live";
        this.end("source-lost", reason);
        publisher.close(reason);
      },
    });
    const send = (item: Track | SourcePacket): void => ("config" in item ? session.track(item) : session.packet(item));
    try {
      // The first publisher of a process stops the event loop for 10 ms above, and for as long again with its first packets.
      await slices.forEach(this.#unsent(), send, { lookEvery: 1 });
      // What the last of them brought along.
      for (const item of this.#unsent()) send(item);
    } catch (error) {
      session.fail(error);
    }
    if (!this.#isBeginning) return;
    this.#state = "live";
    this.#early = [];
    if (this.#pendingEnd) this.end(this.#pendingEnd.why, this.#pendingEnd.reason);
  }

  /** Also what comes while it is sent. */
  *#unsent(): Generator<Track | SourcePacket> {
    while (this.#isBeginning) {
      const item = this.#early[this.#sent];
      if (!item) return;
      this.#sent++;
      yield item;
    }
  }

  get #isBeginning(): boolean {
    return this.#state === "beginning";
  }

  #close(): void {
    this.#state = "closed";
    this.#early = [];
    this.#settings.onClosed(this);
  }
}
