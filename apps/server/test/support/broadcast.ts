import type { NewStream, Session, Stream } from "@weir/contract";
import { expect } from "vitest";
import { type Publisher, type PublisherOptions, startPublisher } from "./publisher.ts";
import type { WeirServer } from "./weir-server.ts";

export type BroadcastOptions = Omit<PublisherOptions, "url"> & { readonly stream?: Omit<NewStream, "name"> };

/** A stream, and a real publisher that sends to it. */
export class Broadcast {
  /** Where it is managed. */
  readonly weir: WeirServer;
  /** Where it is published to and watched. */
  readonly media: WeirServer;
  readonly stream: Stream;
  readonly #options: BroadcastOptions;
  readonly #publishers: Publisher[] = [];

  constructor(weir: WeirServer, media: WeirServer, stream: Stream, options: BroadcastOptions) {
    this.weir = weir;
    this.media = media;
    this.stream = stream;
    this.#options = options;
  }

  get hlsUrl(): string {
    return this.media.hlsUrl(this.stream.playbackId);
  }

  /** The latest. */
  get publisher(): Publisher {
    const publisher = this.#publishers.at(-1);
    if (!publisher) throw new Error("nobody publishes");
    return publisher;
  }

  /** One more publisher of the same stream, like the first unless told; rejects with the reason when it is refused. */
  async publish(changes: Partial<BroadcastOptions> = {}): Promise<Publisher> {
    const { stream: _stream, ...options } = { ...this.#options, ...changes };
    const publisher = await startPublisher({ ...options, url: this.media.publishUrl(this.stream.streamKey ?? "") });
    this.#publishers.push(publisher);
    return publisher;
  }

  now(): Promise<Stream> {
    return this.weir.client.streams.get(this.stream.id);
  }

  /** Resolves when the stream is in that state. */
  async untilState(state: Stream["status"]["state"], withinMs = 30_000): Promise<Stream> {
    await expect.poll(async () => (await this.now()).status.state, { timeout: withinMs, interval: 50 }).toBe(state);
    return this.now();
  }

  /** Resolves with how many segments of the source are counted, when there are so many. */
  async untilSegments(count: number, withinMs = 30_000): Promise<number> {
    let segments = 0;
    const counted = async () => {
      segments = (await this.now()).sourceSegments;
      return segments;
    };
    await expect.poll(counted, { timeout: withinMs, interval: 100 }).toBeGreaterThanOrEqual(count);
    return segments;
  }

  /** Newest first. */
  async sessions(): Promise<readonly Session[]> {
    return (await this.weir.client.sessions.ofStream(this.stream.id)).items;
  }

  /** Resolves with the newest session when its recording is ready. */
  async recorded(withinMs = 40_000): Promise<Session & { readonly recordingUrl: string; readonly mp4Url: string }> {
    const newest = async () => (await this.sessions())[0];
    await expect.poll(async () => (await newest())?.recordingStatus, { timeout: withinMs }).toBe("ready");
    const session = await newest();
    const { recordingUrl, mp4Url } = session ?? {};
    if (!session || !recordingUrl || !mp4Url)
      throw new Error(`the recording has no address: ${JSON.stringify(session)}`);
    return { ...session, recordingUrl, mp4Url };
  }

  /** Ends every publisher, as a lost connection does. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#publishers.map((publisher) => publisher.kill()));
  }
}

/** A stream that is live, with a publisher of 640x360 and without a ladder unless told otherwise; with `profiles: null` it gets the ladder that streams get. */
export async function startBroadcast(
  weir: WeirServer,
  options: BroadcastOptions = {},
  media = weir,
): Promise<Broadcast> {
  const stream = await weir.client.streams.create({
    name: expect.getState().currentTestName ?? "test",
    profiles: [],
    ...options.stream,
  });
  const broadcast = new Broadcast(weir, media, stream, options);
  await broadcast.publish();
  await broadcast.untilState("live");
  return broadcast;
}
