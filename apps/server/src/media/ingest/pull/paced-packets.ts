import type { Clock, Timer } from "../../../platform/clock.ts";
import { type Publication, type SourcePacket, TICKS_PER_SECOND, type Track } from "../../packet.ts";
import type { PacedMemory } from "./paced-memory.ts";

/** Slightly fast, so that a live source whose clock is fast is never slowed down; no encoder's is by more. */
const RATE = 1.001;
/** A longer step is a jump of the source's clock and says nothing about its pace. */
const LONGEST_STEP_TICKS = 5 * TICKS_PER_SECOND;
/** Read this far ahead of what is due: the next segment of a playlist arrives while this one plays. */
const MAX_AHEAD_MS = 10_000;
/** Packets that are due within this time go together. */
const STEP_MS = 20;
/** What a packet costs beside its bytes. A source decides how small they are, and may give any number of them the same time. */
const PACKET_BYTES = 512;

type Sink = Pick<Publication, "track" | "packet">;
type Item =
  | { readonly dueAt: number; readonly packet: SourcePacket }
  | { readonly dueAt: number; readonly track: Track };

/**
 * Passes on what was read from a source in real time. A playlist brings several seconds at once and then nothing for as long, a file comes as fast
 * as the network is; the session expects packets when they are due. A packet that comes late goes at once, and those after it follow from there.
 */
export class PacedPackets implements Sink {
  readonly #sink: Sink;
  readonly #clock: Clock;
  readonly #memory: PacedMemory;
  #items: Item[] = [];
  #bytes = 0;
  /** Of each track, by id. */
  readonly #last: ({ readonly dts: number; readonly dueAt: number } | undefined)[] = [];
  /** The first packet of all. */
  #first: { readonly dts: number; readonly dueAt: number } | null = null;
  /** Whether a track was announced, by id. */
  readonly #isKnown: (boolean | undefined)[] = [];
  #next: Timer | null = null;
  #isHeld = false;
  #isClosed = false;
  #waiting: { readonly forAll: boolean; readonly go: () => void } | null = null;

  constructor(sink: Sink, clock: Clock, memory: PacedMemory) {
    this.#memory = memory;
    this.#sink = sink;
    this.#clock = clock;
  }

  /** A new track goes at once, because one that joins later would begin a new stretch. A changed one goes between the packets that it divides. */
  track(track: Track): void {
    if (!this.#isKnown[track.id]) {
      this.#isKnown[track.id] = true;
      return this.#sink.track(track);
    }
    this.#insert({ dueAt: this.#last[track.id]?.dueAt ?? this.#clock.monotonic(), track });
    this.#pass();
  }

  packet(packet: SourcePacket): void {
    if (this.#isClosed) return packet.data.release();
    const now = this.#clock.monotonic();
    // A track's first packet is due where the others are: files and separate playlists bring a piece of one, then the same time of the other.
    const last = this.#last[packet.trackId] ?? this.#first;
    const step = last ? packet.dts - last.dts : 0;
    const stepMs = Math.abs(step) > LONGEST_STEP_TICKS ? 0 : (step / TICKS_PER_SECOND / RATE) * 1000;
    const dueAt = Math.max(now, (last?.dueAt ?? now) + stepMs);
    this.#last[packet.trackId] = { dts: packet.dts, dueAt };
    this.#first ??= { dts: packet.dts, dueAt };
    this.#insert({ dueAt, packet });
    this.#keep(sizeOf(packet));
    this.#pass();
  }

  /** Resolves when more may be read. */
  room(): Promise<void> {
    return this.#wait(false);
  }

  /** Resolves when everything was passed on, or nothing will be any more. */
  drained(): Promise<void> {
    return this.#wait(true);
  }

  /** Most of what a source may be ahead of real time is here, or most of all that it sent. */
  get isAhead(): boolean {
    const ahead = this.#aheadMs;
    const newest = this.#items.at(-1)?.dueAt ?? 0;
    return ahead > MAX_AHEAD_MS * 0.8 || (ahead > 0 && ahead > (newest - (this.#first?.dueAt ?? newest)) / 2);
  }

  hold(): void {
    this.#isHeld = true;
  }

  goOn(): void {
    this.#isHeld = false;
    this.#pass();
  }

  close(): void {
    this.#isClosed = true;
    this.#next?.cancel();
    for (const item of this.#items) if ("packet" in item) item.packet.data.release();
    this.#items = [];
    this.#keep(-this.#bytes);
    this.#wake();
  }

  get #aheadMs(): number {
    const newest = this.#items.at(-1);
    return newest ? newest.dueAt - this.#clock.monotonic() : 0;
  }

  /** Behind all that are due no later. Tracks that alternate are a few packets apart, so it looks from the end. */
  #insert(item: Item): void {
    let at = this.#items.length;
    while (at > 0 && (this.#items[at - 1]?.dueAt ?? 0) > item.dueAt) at--;
    if (at === this.#items.length) this.#items.push(item);
    else this.#items.splice(at, 0, item);
  }

  #keep(bytes: number): void {
    this.#bytes += bytes;
    this.#memory.add(bytes);
  }

  #wait(forAll: boolean): Promise<void> {
    if (this.#isClosed || this.#mayGo(forAll)) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting = { forAll, go: resolve };
    });
  }

  #mayGo(forAll: boolean): boolean {
    if (forAll) return this.#items.length === 0;
    return this.#aheadMs < MAX_AHEAD_MS && this.#memory.hasRoom(this.#bytes);
  }

  #wake(): void {
    const waiting = this.#waiting;
    if (!waiting || !(this.#isClosed || this.#mayGo(waiting.forAll))) return;
    this.#waiting = null;
    waiting.go();
  }

  #pass(): void {
    if (this.#isHeld || this.#isClosed) return;
    const until = this.#clock.monotonic() + STEP_MS;
    for (let item = this.#items[0]; item; item = this.#items[0]) {
      if (this.#isHeld || this.#isClosed || item.dueAt > until) break;
      // Before it is passed on: the sink may close this, which releases what is left.
      this.#items.shift();
      if ("track" in item) this.#sink.track(item.track);
      else {
        this.#keep(-sizeOf(item.packet));
        this.#sink.packet(item.packet);
      }
    }
    if (this.#isClosed) return;
    const [first] = this.#items;
    this.#next?.cancel();
    this.#next = null;
    if (first && !this.#isHeld)
      this.#next = this.#clock.after(Math.max(STEP_MS, first.dueAt - this.#clock.monotonic()), () => this.#pass());
    this.#wake();
  }
}

const sizeOf = ({ data }: SourcePacket): number => data.byteLength + PACKET_BYTES;
