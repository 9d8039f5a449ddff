import type { LinkMeasure, PublishDecision, SrtMeasure } from "../../ports/index.ts";
import type { Publication, PublicationEnd, PublisherHandle, SourcePacket, Track } from "../packet.ts";
import { OUT_OF_TURN, type Refusal, refusalOf, refusalOfError } from "./publish-refusals.ts";
import { type PacedSender, PublishRest } from "./publish-rest.ts";
import type { PublishSettings } from "./publish-settings.ts";
import { afterGrant, afterKey, CLOSED, type PublishState, WAITING } from "./publish-state.ts";
import type { PlacedConnection } from "./publisher-places.ts";

const MAX_KEY_LENGTH = 256;
const KEY = /^[A-Za-z0-9_-]+$/;

/** The client behind a connection. */
export interface Broadcaster {
  readonly remoteAddress: string;
  /** Null for a trusted proxy that has not (yet) named its client. */
  readonly client: string | null;
}

/** The protocol-specific side of a publish connection. */
export interface PublishWire {
  readonly protocol: PublisherHandle["protocol"];
  /** Stops reading while a key is checked or the sender is ahead of real time. */
  pause(): void;
  /** Resumes reading after a pause for pace. May throw, because buffered data is parsed. */
  resume(): void;
  /** Connection quality, if the protocol reports it. */
  takeLink?(): LinkMeasure | SrtMeasure | null;
  /** A word for its state; a change is reported at once. */
  readonly linkState?: string;
  /** Frames whose times were replaced, if the ingest does that. */
  readonly clockRepairs?: number | undefined;
  /** Tracks that the sender has and that are not taken, as a sentence; null if there are none. */
  readonly leftOut?: string | null | undefined;
  /** Called when the sender gets ahead of real time, and when it no longer is. */
  paceChanged(isAhead: boolean): void;
  /** The key was accepted: confirm it and read media from now on. May throw, because buffered data is parsed. */
  accept(): void;
  /** Sends the reason; `close` follows. */
  refuse(refusal: Refusal): void;
  /** Closes once the sender has read the reason, or after a short time. */
  close(): void;
  /** Closes immediately. */
  destroy(): void;
}

/**
 * The protocol-independent part of a publish connection: one stream key, checked by the gate; a publication in the hub; packets, no faster than real
 * time; one end, logged once. An ingest converts bytes to tracks and packets, and refusals to its protocol.
 */
export class PublishConnection implements Pick<Publication, "track" | "packet">, PublisherHandle, PlacedConnection {
  readonly #wire: PublishWire;
  readonly #settings: PublishSettings;
  readonly #rest: PublishRest;
  #broadcaster: Broadcaster;
  #state: PublishState = WAITING;
  #wasAhead = false;
  /** The stream of its grant. */
  #streamId: string | null = null;

  constructor(wire: PublishWire, broadcaster: Broadcaster, settings: PublishSettings) {
    this.#wire = wire;
    this.#broadcaster = broadcaster;
    this.#settings = settings;
    this.#rest = new PublishRest(settings.clock, this.#sender());
    settings.places.enter(this);
    settings.places.named(this);
  }

  get protocol(): PublisherHandle["protocol"] {
    return this.#wire.protocol;
  }

  /** PlacedConnection: the client that holds the connection's slot. */
  get client(): string | null {
    return this.#broadcaster.client;
  }

  get isPublishing(): boolean {
    return this.#state.at === "publishing";
  }

  get isClosed(): boolean {
    return this.#state.at === "closed";
  }

  /** PublisherHandle: connection quality. */
  takeLink(): LinkMeasure | SrtMeasure | null {
    return this.#wire.takeLink?.() ?? null;
  }

  /** PublisherHandle: its state in a word. */
  get linkState(): string {
    return this.#wire.linkState ?? "";
  }

  /** PublisherHandle: frames whose times were replaced. */
  get clockRepairs(): number | undefined {
    return this.#wire.clockRepairs;
  }

  /** PublisherHandle: tracks that are not taken. */
  get leftOut(): string | null {
    return this.#wire.leftOut ?? null;
  }

  /** Sets the client that a proxy named. */
  named(broadcaster: Broadcaster): void {
    this.#broadcaster = broadcaster;
    this.#settings.places.named(this);
  }

  /** Handles a request to publish with this key, which may be any text. The result goes to the wire. */
  async publish(streamKey: string): Promise<void> {
    const asking = afterKey(this.#state);
    if (!asking) return this.refuse(OUT_OF_TURN);
    if (streamKey.length > MAX_KEY_LENGTH || !KEY.test(streamKey)) return this.refuse(refusalOf("unknown-key"));
    this.#state = asking;
    this.#wire.pause();
    try {
      this.#decided(await this.#ask(streamKey));
    } catch (error) {
      this.fail(error);
    }
  }

  track(track: Track): void {
    if (this.#state.at !== "publishing") return;
    this.#state.publication.track(track);
    this.#rest.look();
  }

  packet(packet: SourcePacket): void {
    if (this.#state.at !== "publishing") return packet.data.release();
    this.#state.publication.packet(packet);
    this.#rest.look();
  }

  /** The sender ended its stream explicitly. */
  stop(): void {
    if (this.#state.at === "publishing") this.end("clean-stop", "the publisher stopped");
  }

  /** The sender's data was malformed or unsupported, or the server failed. */
  fail(error: unknown): void {
    const refusal = refusalOfError(error);
    if (refusal) return this.refuse(refusal);
    const { protocol } = this;
    this.#settings.log.error({ err: error, protocol }, "could not serve a publisher");
    this.end("source-lost", "internal error");
  }

  /** Sends the reason, then closes. */
  refuse(refusal: Refusal): void {
    if (this.isClosed) return;
    this.#wire.refuse(refusal);
    this.#settings.gate.refused({
      protocol: this.protocol,
      remoteAddress: this.#broadcaster.remoteAddress,
      streamId: this.#streamId,
      sentence: refusal.sentence,
    });
    this.end("source-lost", refusal.sentence);
  }

  end(why: PublicationEnd, reason: string): void {
    const state = this.#state;
    this.#close(reason);
    if (state.at === "publishing") state.publication.end(why, reason);
  }

  /** PublisherHandle: the hub closes this publisher; its publication need not be ended. */
  close(reason: string, mayReturn = false): void {
    if (this.isClosed) return;
    this.#wire.refuse({ cause: "let-go", sentence: reason, mayReturn });
    this.#close(reason);
  }

  /** PlacedConnection: closed to free its slot, because it has no key yet. */
  pushOut(): void {
    this.end("source-lost", "too many connections without a stream key");
    this.#wire.destroy();
  }

  /** The connection has closed: frees its slot. */
  gone(): void {
    this.#settings.places.leave(this);
    this.end("source-lost", "connection closed");
  }

  #ask(streamKey: string): Promise<PublishDecision | null> {
    const { gate, keys, log } = this.#settings;
    const { remoteAddress, client } = this.#broadcaster;
    const authorize = () => gate.authorize({ protocol: this.protocol, streamKey, remoteAddress });
    return keys.ask({ client, streamKey, isWanted: () => !this.isClosed, authorize }).catch((err: unknown) => {
      log.error({ err }, "the publish gate failed");
      return { ok: false, reason: "unavailable" };
    });
  }

  #decided(decision: PublishDecision | null): void {
    if (!decision?.ok) return this.refuse(refusalOf(decision?.reason ?? "unavailable"));
    const { hub, places } = this.#settings;
    this.#streamId = decision.grant.streamId;
    // Opened in any case: the grant holds the stream's lease, which only the publication's end releases.
    const publication = hub.open(decision.grant, this);
    const next = afterGrant(this.#state, publication);
    if (!next) return publication.end("source-lost", "connection closed");
    if (!places.publishes(this)) {
      const refusal = refusalOf("too-many");
      publication.end("source-lost", refusal.sentence);
      return this.refuse(refusal);
    }
    this.#state = next;
    this.#wire.accept();
  }

  #sender(): PacedSender {
    return {
      waitMs: () => (this.#state.at === "publishing" ? this.#state.publication.waitMs : 0),
      pause: () => this.#wire.pause(),
      resume: () => this.#resume(),
      paceChanged: (isAhead) => this.#paceChanged(isAhead),
    };
  }

  #resume(): void {
    try {
      this.#wire.resume();
    } catch (error) {
      this.fail(error);
    }
  }

  #paceChanged(isAhead: boolean): void {
    this.#wire.paceChanged(isAhead);
    if (this.#wasAhead) return;
    this.#wasAhead = true;
    const text = "slowing down a publisher that sends faster than real time; with ffmpeg, use -re";
    this.#settings.log.info(this.#who, text);
  }

  #close(reason: string): void {
    if (this.isClosed) return;
    const level = this.#state.at === "publishing" ? "info" : "debug";
    this.#state = CLOSED;
    this.#rest.stop();
    this.#wire.close();
    this.#settings.log[level](this.#who, `publisher closed: ${reason}`);
  }

  get #who() {
    return { protocol: this.protocol, remoteAddress: this.#broadcaster.remoteAddress };
  }
}
