import { createHash } from "node:crypto";
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { isDeepStrictEqual } from "node:util";
import type { Timer } from "../../platform/clock.ts";
import { silentLog } from "../../platform/log.ts";
import { ManualClock } from "../../platform/manual-clock-rig.ts";
import { LocalObjectStore } from "../../platform/storage/local-object-store.ts";
import { makeTestFolder } from "../../platform/test-folder-rig.ts";
import { type RecordedSegment, recordingPrefix } from "../../ports/index.ts";
import { openMediaMemory } from "../memory-pool.ts";
import { initOfTrack } from "../packaging/init-of-track.ts";
import type { LiveRendition } from "../packaging/live-rendition.ts";
import { type InitSegment, LiveSegment } from "../packaging/live-segment.ts";
import { listSpool, recoverSpool } from "../recording/recover-spool.ts";
import { SessionRecorder } from "../recording/session-recorder.ts";
import { SpanSealer } from "../recording/span-sealer.ts";
import { SpoolDisk } from "../recording/spool-disk.ts";
import { FactLog } from "./fake-gates.ts";
import { FaultyDisk } from "./faulty-disk.ts";
import { AUDIO, VIDEO } from "./synthetic-source.ts";

const SEGMENT_MS = 2_000;
const OWNER = { projectId: "project-1", sessionId: "session-1", streamId: "stream-1" };
/** Facts as the database takes them: only while it is there, and what was told while it was away may be forgotten. */
export class FactsOfDatabase extends FactLog {
  isAway = false;
  /** Facts that nobody waited for yet, and the most there were at one time. */
  unsettled = 0;
  mostUnsettled = 0;

  override report(fact: Parameters<FactLog["report"]>[0]): void {
    super.report(fact);
    this.mostUnsettled = Math.max(this.mostUnsettled, ++this.unsettled);
  }

  override async settle(): Promise<boolean> {
    if (!this.isAway) this.unsettled = 0;
    return !this.isAway;
  }
}

/** A store that refuses puts while it is away. */
class StoreOfTest extends LocalObjectStore {
  isAway = false;
  refused = 0;

  override put(key: string, bytes: Uint8Array): Promise<void> {
    return this.#unlessAway(() => super.put(key, bytes));
  }

  override putFile(key: string, path: string): Promise<void> {
    return this.#unlessAway(() => super.putFile(key, path));
  }

  async #unlessAway(put: () => Promise<void>): Promise<void> {
    if (!this.isAway) return put();
    this.refused++;
    throw new Error("503 Slow Down");
  }
}

/** Knows whether somebody waits for it. */
class ClockWithAlarms extends ManualClock {
  alarms = 0;

  override after(ms: number, action: () => void): Timer {
    let isSet = true;
    const unset = (): void => {
      if (isSet) this.alarms--;
      isSet = false;
    };
    this.alarms++;
    const timer = super.after(ms, () => {
      unset();
      action();
    });
    return {
      cancel: () => {
        unset();
        timer.cancel();
      },
    };
  }
}

/** The recording of one session on a real disk, with a store, a disk and a database whose faults a test decides. */
export class RecordingRig implements AsyncDisposable {
  readonly clock = new ClockWithAlarms();
  readonly facts = new FactsOfDatabase();
  readonly faults = new FaultyDisk();
  readonly store: StoreOfTest;
  readonly spool: string;
  freeBytes = 2 ** 40;
  /** Those of the next segments. */
  readonly inits: Record<"source" | "audio", InitSegment> = { source: initOfTrack(VIDEO), audio: initOfTrack(AUDIO) };
  /** Segments of the source and the audio, in memory as long as a test leaves them here. */
  readonly live: { readonly rendition: string; readonly segment: LiveSegment }[] = [];
  sealer: SpanSealer;
  recorder: SessionRecorder;
  rungRecorder: SessionRecorder;
  readonly #folder: string;
  #disk: SpoolDisk;
  #closing = new AbortController();
  #recovery: Promise<void> | null = null;
  #msn = 0;
  #epoch = 1;

  private constructor(folder: string) {
    this.#folder = folder;
    this.spool = join(folder, "spool");
    this.store = new StoreOfTest(join(folder, "objects"));
    this.#disk = this.#openDisk();
    this.sealer = this.#newSealer();
    this.recorder = this.#newRecorder("source");
    this.rungRecorder = this.#newRecorder("rungs");
  }

  static async open(): Promise<RecordingRig> {
    const rig = new RecordingRig(makeTestFolder("recording"));
    await rig.store.open();
    await mkdir(rig.spool);
    return rig;
  }

  /** Record segments of two renditions, 2 s each; resolves when they are told. */
  async record(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      this.send();
      await this.#passing(this.recorder.flushed());
      this.clock.advance(SEGMENT_MS);
    }
  }

  /** Record a segment, without waiting for it. */
  send(): void {
    const msn = ++this.#msn;
    const segments = Object.entries(this.inits).map(([name, init]) => this.#segment(name, init, msn));
    this.live.push(...segments.map(({ rendition: { name: rendition }, segment }) => ({ rendition, segment })));
    const bytes = segments.reduce((sum, { segment }) => sum + segment.bytes, 0);
    const position = {
      nextMsn: msn + 1,
      discontinuitySequence: 0,
      endTicks: msn * 180_000,
      targetDuration: 2,
      neededTargetDuration: 2,
      sound: null,
    };
    const fact = { ...OWNER, type: "segment-closed", epoch: this.#epoch, at: this.clock.now(), position } as const;
    const { projectId: _, ...told } = fact;
    this.recorder.record({ ...told, durationSeconds: 2, bytes }, segments);
  }

  /** Record the newest segment in a rung as well; resolves when it is told. */
  async recordRung(): Promise<void> {
    const made = this.#segment("v0", this.inits.source, this.#msn);
    const { projectId: _, ...owner } = OWNER;
    const at = this.clock.now();
    const fact = { ...owner, type: "rungs-recorded", epoch: this.#epoch, at, bytes: made.segment.bytes } as const;
    this.rungRecorder.record(fact, [made]);
    await this.#passing(this.rungRecorder.flushed());
  }

  #segment(name: string, init: InitSegment, msn: number) {
    const memory = openMediaMemory().parts;
    const { timescale } = init;
    const place = { msn, timescale, startTicks: (msn - 1) * 2 * timescale, init };
    const segment = new LiveSegment({ ...place, programDateTimeMs: this.clock.now(), discontinuity: false }, memory);
    for (const part of [1, 2]) {
      const timing = { durationTicks: timescale, lateTicks: 0, frames: 1, isIndependent: part === 1 };
      segment.add([contentOf(name, msn, part)], timing);
    }
    return { rendition: { name } as LiveRendition, segment };
  }

  /** End the session. */
  async finish(): Promise<void> {
    await this.#passing(this.rungRecorder.finish());
    await this.#passing(this.recorder.finish());
  }

  /** Forget what is in memory, as `kill -9` does, and start again on the same disk with the next epoch. */
  async restart({ powerCut = false } = {}): Promise<void> {
    this.#closing.abort();
    this.clock.advance(60_000);
    await this.#recovery;
    if (powerCut) await this.faults.cutPower(this.spool);
    await this.recorder.abandon();
    await this.rungRecorder.abandon();
    await this.sealer.close();
    this.#epoch++;
    this.#msn += 16;
    this.#closing = new AbortController();
    this.#disk = this.#openDisk();
    this.sealer = this.#newSealer();
    this.recorder = this.#newRecorder("source");
    this.rungRecorder = this.#newRecorder("rungs");
    const { clock, facts: eventSink, sealer } = this;
    const settings = { clock, log: silentLog, eventSink, sealer, signal: this.#closing.signal };
    this.#recovery = recoverSpool(await listSpool(this.spool), settings);
    void this.#recovery.then(() => {
      this.#recovery = null;
    });
  }

  /** Let time pass until the sealer has every chapter that the last start found on the disk. */
  async recovered(): Promise<void> {
    if (this.#recovery) await this.#passing(this.#recovery);
  }

  /** Let time pass until the sealer has nothing left. */
  async sealed(): Promise<void> {
    const deadline = performance.now() + 10_000;
    while (this.#recovery || this.sealer.waiting > 0) {
      if (performance.now() > deadline) throw new Error(`${this.sealer.waiting} chapters are not sealed`);
      await this.#turn(500);
    }
  }

  /** Let time pass in small steps, and everything that is due in them happen. */
  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 500) {
      this.clock.advance(500);
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Names in the spool. */
  left(): Promise<string[]> {
    return readdir(this.spool);
  }

  /** What the store has, with its sizes. */
  async objects(): Promise<ReadonlyMap<string, number | null>> {
    const sizes = new Map<string, number | null>();
    for await (const key of this.store.keys()) sizes.set(key, await this.store.size(key));
    return sizes;
  }

  /** Every row that was told, once; a row that was told twice differently is an error. */
  rows(): RecordedSegment[] {
    const rows = new Map<string, RecordedSegment>();
    const facts = [...this.facts.of("segment-closed"), ...this.facts.of("rungs-recorded")];
    for (const row of facts.flatMap(({ recorded }) => recorded)) {
      const key = `${row.rendition}/${row.msn}`;
      const known = rows.get(key);
      if (known && !row.gap && !isDeepStrictEqual(known, row)) throw new Error(`${key} was told twice, differently`);
      if (!known) rows.set(key, row);
    }
    return [...rows.values()].filter(({ gap }) => !gap);
  }

  /** `rendition/msn` of every row whose bytes are in the store as they were live. A stored byte that differs is an error. */
  async whole(): Promise<string[]> {
    const sealed = new Map(
      this.facts.of("span-sealed").map(({ rendition, span, bytes }) => [`${rendition}/${span}`, bytes]),
    );
    const names: string[] = [];
    for (const { rendition, msn, span, offset, length } of this.rows()) {
      if (offset + length > (sealed.get(`${rendition}/${span}`) ?? 0)) continue;
      const key = `${recordingPrefix(OWNER.projectId, OWNER.sessionId)}${rendition}/${span}`;
      const bytes = await buffer(await this.store.read(key, { start: offset, end: offset + length - 1 }));
      const sent = Buffer.concat([contentOf(rendition, msn, 1), contentOf(rendition, msn, 2)]);
      if (!bytes.equals(sent)) throw new Error(`${rendition}/${msn} differs in the store`);
      names.push(`${rendition}/${msn}`);
    }
    return names.sort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.rungRecorder.abandon();
    await this.sealer.close();
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** Wait while time passes. */
  async #passing(promise: Promise<void>): Promise<void> {
    let isDone = false;
    void promise.then(() => {
      isDone = true;
    });
    const deadline = performance.now() + 10_000;
    while (!isDone) {
      if (performance.now() > deadline) throw new Error("the recorder hangs");
      await this.#turn(10);
    }
  }

  /** Let things happen, and time pass where somebody waits for it. */
  async #turn(ms: number): Promise<void> {
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
    if (this.clock.alarms > 0) this.clock.advance(ms);
  }

  #openDisk(): SpoolDisk {
    const { openFile, syncFolder } = this.faults;
    return new SpoolDisk({ folder: this.spool, freeBytes: () => this.freeBytes, openFile, syncFolder });
  }

  #newSealer(): SpanSealer {
    return new SpanSealer({ clock: this.clock, log: silentLog, store: this.store, eventSink: this.facts });
  }

  #newRecorder(part: "source" | "rungs"): SessionRecorder {
    const { clock, facts: eventSink, sealer } = this;
    return new SessionRecorder({ ...OWNER, part, clock, log: silentLog, eventSink, disk: this.#disk, sealer });
  }
}

/** Different for each part, and of different lengths. */
function contentOf(rendition: string, msn: number, part: number): Uint8Array {
  const word = createHash("sha256").update(`${rendition} ${msn} ${part}`).digest();
  return Buffer.concat(Array.from({ length: 10 + (msn % 7) }, () => word));
}
