import type { Stream, StreamEvent } from "@weir/contract";
import { expectWholeLog, Follower } from "../support/followers.ts";
import { type ListedSegment, listedRenditions, listedSegments, readSegment } from "../support/live-renditions.ts";
import { NameCollector } from "../support/name-collector.ts";
import { type Encoder, FRAME_RATE } from "./encoder.ts";
import type { World } from "./world.ts";

const NODE = "server";
const REWIND = "rewind";
/** What a stream's creation is behind, also where the server's clock steps back: of it all events are read. */
const EARLIER_MS = 120_000;
/** Pictures more or less, at the edges of what a file has. */
const FRAMES_OFF = 2;
/** Those who watch and follow a stream, and remember all that they were given. It shares no code with the server. */
export class Audience implements AsyncDisposable {
  readonly encoder: Encoder;
  readonly #world: World;
  readonly #names: NameCollector;
  readonly #followers: readonly Follower[];

  /** `token`: of a viewer who may watch, where not everybody may. */
  constructor(world: World, encoder: Encoder, token: string | null) {
    this.encoder = encoder;
    this.#world = world;
    const hlsUrl = world.weir.hlsUrl(encoder.stream.playbackId);
    const places = [{ node: NODE, hlsUrl: token === null ? hlsUrl : `${hlsUrl}?jwt=${token}` }];
    if (encoder.stream.dvr) places.push({ node: REWIND, hlsUrl: `${hlsUrl}?dvr=1` });
    this.#names = new NameCollector(places);
    this.#followers = Array.from(
      { length: encoder.way === "rtmp" ? 2 : 1 },
      () => new Follower(world.weir, this.#logged),
    );
  }

  get #logged(): Pick<Stream, "id" | "createdAt"> {
    const { id, createdAt } = this.encoder.stream;
    return { id, createdAt: createdAt - EARLIER_MS };
  }

  /** How long after it happened each event of its lifecycle reached a follower, in milliseconds. */
  get delays(): number[] {
    return this.#followers.flatMap(({ delays }) => delays);
  }

  /** Of its lifecycle, that a follower was given. */
  get events(): number {
    return this.#followers[0]?.delays.length ?? 0;
  }

  get names(): number {
    return this.#names.names;
  }

  /** What is listed is looked at once more: a fault may not change it. */
  lookAgain(): void {
    this.#names.lookAgain();
  }

  async state(): Promise<string> {
    return (await this.#world.weir.client.streams.get(this.encoder.stream.id)).status.state;
  }

  /** What was served and must never be. */
  problems(): string[] {
    const falls = [NODE, REWIND].flatMap((place) => this.#names.fallsAt(place));
    return [...this.#names.clashes, ...falls].map((problem) => `${this.encoder.stream.name}: ${problem}`);
  }

  /** Resolves with the events of the stream. Throws where a follower did not get each of them once and in order. */
  log(): Promise<StreamEvent[]> {
    return expectWholeLog(this.#world.weir, this.#logged, this.#followers);
  }

  /** Segments that were live and are not in a recording, beyond those that crashes may take. */
  async missing(mostLost: number): Promise<string[]> {
    const found: string[] = [];
    for (const session of (await this.#world.weir.client.sessions.ofStream(this.encoder.stream.id)).items) {
      const seen = this.#names.segmentsOf(session.id, "source");
      const { recordingStatus, recordingUrl } = session;
      if (!recordingUrl) {
        if (seen > mostLost)
          found.push(`session ${session.id}: ${seen} segments were live, the recording is ${recordingStatus}`);
        continue;
      }
      const source = (await listedRenditions(recordingUrl)).find(({ name }) => name === "source");
      const listed = source ? await listedSegments(source.url) : [];
      const recorded = listed.filter(({ isGap }) => !isGap);
      // Slate was seen, and is a gap in the recording. So are the numbers that a crash leaves out: only streams without slate are counted strictly.
      const mostSlate = (this.encoder.stream.slate ?? "off") !== "off" ? listed.length - recorded.length : 0;
      if (recorded.length < seen - mostSlate - mostLost)
        found.push(`session ${session.id}: ${seen} segments were live, ${recorded.length} are recorded`);
      found.push(...(await unreadable(recorded.map(({ url }) => url))));
      if (this.encoder.way === "rtmp") found.push(...(await lackingFrames(recorded)));
    }
    return found;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#names.stop();
    for (const follower of this.#followers) await follower[Symbol.asyncDispose]();
  }
}

/**
 * Files of segments with another number of pictures than the segments' durations say, counted by an independent demuxer. A power cut may leave bytes behind
 * the last segment that is listed: they are nobody's.
 */
async function lackingFrames(segments: readonly ListedSegment[]): Promise<string[]> {
  const found: string[] = [];
  for (const [url, ofFile] of Map.groupBy(segments, ({ url: file }) => file)) {
    const [first] = ofFile;
    if (!first) continue;
    const endByte = Math.max(...ofFile.map((segment) => segment.endByte));
    const { frames } = await readSegment({ ...first, endByte }).catch(() => ({ frames: Number.NaN }));
    const due = Math.round(ofFile.reduce((sum, { seconds }) => sum + seconds, 0) * FRAME_RATE);
    if (!(Math.abs(frames - due) <= FRAMES_OFF)) found.push(`${url} has ${frames} pictures in place of ${due}`);
  }
  return found;
}

/** Rows without their objects: what is listed and not there. */
async function unreadable(urls: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const url of new Set(urls)) {
    try {
      const answer = await fetch(url);
      await answer.arrayBuffer();
      if (!answer.ok) found.push(`${url} is answered ${answer.status}`);
    } catch (error) {
      found.push(`${url} is not answered whole: ${error}`);
    }
  }
  return found;
}
