import { rm } from "node:fs/promises";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Audiences } from "../../platform/audience/index.ts";
import type { OtherNodes } from "../../platform/cluster/index.ts";
import { oneAtATime } from "../../platform/http/one-at-a-time.ts";
import { TrustedProxies } from "../../platform/http/trusted-proxies.ts";
import { silentLog } from "../../platform/log.ts";
import { ManualClock } from "../../platform/manual-clock-rig.ts";
import { LocalObjectStore } from "../../platform/storage/local-object-store.ts";
import { makeTestFolder } from "../../platform/test-folder-rig.ts";
import { MediaPlane } from "../index.ts";
import type { TranscodeAdmission } from "../ladder/transcode-admission.ts";
import type { Publication } from "../packet.ts";
import { FakeCatalogue } from "./fake-catalogue.ts";
import { FactLog, FakePublisher, FakePublishGate, NO_LADDER, NO_TARGETS, ORCHESTRATOR } from "./fake-gates.ts";
import { FakePlaybackGate } from "./fake-playback-gate.ts";
import { FakeChildren } from "./fake-transcoder.ts";
import { AUDIO, type SourceShape, syntheticSource, VIDEO } from "./synthetic-source.ts";

/** Outlives a restart of the plane, as the database's does. */
const VIEWER_SECRET = Buffer.alloc(32, 7);

/** A media plane behind a real HTTP server on loopback, on a clock that a test moves, with everything it needs faked but the disk. */
export class MediaRig implements AsyncDisposable {
  readonly clock = new ManualClock(Date.UTC(2030, 0, 1));
  readonly publishGate = new FakePublishGate();
  readonly facts = new FactLog();
  readonly playbackGate = new FakePlaybackGate();
  readonly catalogue = new FakeCatalogue(this.facts);
  readonly folder: string;
  readonly store: LocalObjectStore;
  readonly children = new FakeChildren();
  spoolFreeBytes = 2 ** 40;
  plane: MediaPlane;
  readonly #server: Server;

  readonly #admission: TranscodeAdmission;

  readonly #others: OtherNodes | null;

  private constructor(folder: string, admission: TranscodeAdmission, others: OtherNodes | null) {
    this.#others = others;
    this.folder = folder;
    this.#admission = admission;
    this.store = new LocalObjectStore(join(folder, "objects"));
    this.plane = this.#newPlane();
    this.#server = createServer(oneAtATime((req, res) => this.plane.handleHttp(req, res)));
  }

  /** Transcodes what `admission` lets in: nothing, unless told otherwise. Alone, unless there are `others`. */
  static async open(admission = NO_LADDER.admission, others: OtherNodes | null = null): Promise<MediaRig> {
    const rig = new MediaRig(makeTestFolder("media"), admission, others);
    await rig.store.open();
    await rig.plane.start();
    await new Promise<void>((resolve) => rig.#server.listen(0, "127.0.0.1", resolve));
    return rig;
  }

  /** Forget everything in memory, as a killed process does, and start again on the same disk. */
  async restart(): Promise<void> {
    await this.plane.close();
    this.plane = this.#newPlane();
    await this.plane.start();
  }

  publish(): { readonly publication: Publication; readonly publisher: FakePublisher } {
    const publisher = new FakePublisher();
    return { publisher, publication: this.plane.open(this.publishGate.grant(), publisher) };
  }

  async send(publication: Publication, shape: SourceShape): Promise<void> {
    if (shape.video !== false) publication.track(VIDEO);
    if (shape.audio !== false) publication.track(AUDIO);
    let at = 0;
    for (const arrival of syntheticSource(shape)) {
      this.clock.advance(arrival.at - at);
      at = arrival.at;
      publication.packet(arrival.packet);
      if (arrival.at < 100) await new Promise((resolve) => setImmediate(resolve));
      // What waits for media is told in a microtask. Without one, a second of the clock passes in which it hears nothing, and it gives up.
      else await null;
    }
  }

  url(path: string): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}${path}`;
  }

  fetch(path: string, init?: RequestInit): Promise<Response> {
    return fetch(this.url(path), init);
  }

  /** The status of a path that is sent as it is: fetch would tidy it. */
  raw(path: string): Promise<{ readonly status: number }> {
    const { port } = this.#server.address() as AddressInfo;
    return new Promise((resolve, reject) => {
      request({ host: "127.0.0.1", port, path }, (res) => {
        res.resume();
        resolve({ status: res.statusCode ?? 0 });
      })
        .on("error", reject)
        .end();
    });
  }

  async text(path: string): Promise<string> {
    return (await this.fetch(path)).text();
  }

  /** Folder of the source rendition, as the multivariant playlist at `path` names it. */
  async sourceOf(path: string, headers: Record<string, string> = {}): Promise<string> {
    const answer = await this.fetch(path, { headers });
    const [address] = /^s\/.*\/source(?=\/index\.m3u8)/m.exec(await answer.text()) ?? [];
    if (!address) throw new Error(`${path} has no source rendition: ${answer.status}`);
    return new URL(address, this.url(path)).pathname;
  }

  async bytes(path: string, init?: RequestInit): Promise<Buffer> {
    return Buffer.from(await (await this.fetch(path, init)).arrayBuffer());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.plane.close();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    await rm(this.folder, { recursive: true, force: true });
  }

  #newPlane(): MediaPlane {
    return new MediaPlane({
      clock: this.clock,
      log: silentLog,
      publishGate: this.publishGate,
      playbackGate: this.playbackGate,
      catalogue: this.catalogue,
      eventSink: this.facts,
      store: this.store,
      viewerSecret: VIEWER_SECRET,
      proxies: new TrustedProxies(["127.0.0.1"]),
      viewersPerClient: 2_000,
      audiences: new Audiences(null),
      maxReads: 100,
      spoolDir: join(this.folder, "spool"),
      dvrDir: join(this.folder, "dvr"),
      reconnectWindowMs: 30_000,
      ladder: { ...NO_LADDER, admission: this.#admission, children: this.children },
      restream: NO_TARGETS,
      orchestrator: ORCHESTRATOR,
      spoolFreeBytes: () => this.spoolFreeBytes,
      others: this.#others,
    });
  }
}

/** The `Promise` of a condition, looked at until it holds. */
export async function until<Value>(
  look: () => Value | Promise<Value>,
  what: string,
  timeoutMs = 20_000,
): Promise<NonNullable<Value>> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const value = await look();
    if (value) return value;
    if (performance.now() > deadline) throw new Error(`waited ${timeoutMs} ms in vain for ${what}`);
    // A turn of its own each time would keep the disk that it waits for from a busy machine.
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
