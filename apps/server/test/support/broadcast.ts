import type { NewStream, Session, Stream } from "@weir/contract";
import { expect } from "vitest";
import { type Publisher, type PublisherOptions, startPublisher } from "./publisher.ts";
import type { WeirServer } from "./weir-server.ts";

export type BroadcastOptions = Omit<PublisherOptions, "url"> & {
  readonly stream?: Omit<NewStream, "name">;
  /** A PNG or JPEG. */
  readonly slateImage?: Buffer;
};

/** A stream with a real publisher. */
export class Broadcast {
  /** The server for API calls. */
  readonly weir: WeirServer;
  /** The server for publishing and playback. */
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

  /** Starts another publisher of the same stream, by default like the first. Rejects with the reason of a refusal. */
  async publish(changes: Partial<BroadcastOptions> = {}): Promise<Publisher> {
    const { stream: _stream, slateImage: _image, ...options } = { ...this.#options, ...changes };
    const publisher = await startPublisher({ ...options, url: this.media.publishUrl(this.stream.streamKey ?? "") });
    this.#publishers.push(publisher);
    return publisher;
  }

  now(): Promise<Stream> {
    return this.weir.client.streams.get(this.stream.id);
  }

  /** Resolves when the stream is in this state. */
  async untilState(state: Stream["status"]["state"], withinMs = 30_000): Promise<Stream> {
    await expect.poll(async () => (await this.now()).status.state, { timeout: withinMs, interval: 50 }).toBe(state);
    return this.now();
  }

  /** Resolves with the number of counted source segments once it reaches this minimum. */
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

  /** Resolves with the newest session once its recording is ready. */
  async recorded(withinMs = 40_000): Promise<Session & { readonly recordingUrl: string; readonly mp4Url: string }> {
    const newest = async () => (await this.sessions())[0];
    await expect.poll(async () => (await newest())?.recordingStatus, { timeout: withinMs }).toBe("ready");
    const session = await newest();
    const { recordingUrl, mp4Url } = session ?? {};
    if (!session || !recordingUrl || !mp4Url)
      throw new Error(`the recording has no address: ${JSON.stringify(session)}`);
    return { ...session, recordingUrl, mp4Url };
  }

  /** Ends all publishers like a lost connection. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#publishers.map((publisher) => publisher.kill()));
  }
}

/** A live stream, by default with a publisher of 640x360 and without a ladder; `profiles: null` gives it the default ladder. */
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
  const { slateImage } = options;
  if (slateImage) await weir.client.streams.setSlateImage(stream.id, slateImage.toString("base64"));
  const broadcast = new Broadcast(weir, media, stream, options);
  await broadcast.publish();
  await broadcast.untilState("live");
  return broadcast;
}
