import type { StreamEvent } from "@weir/contract";
import type { Chance } from "../support/chance.ts";
import { expectWholeLog, Follower } from "../support/followers.ts";
import { listedRenditions, listedSegments } from "../support/live-renditions.ts";
import { NameCollector } from "../support/name-collector.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../support/webhook-receiver.ts";
import type { Encoder } from "./encoder.ts";
import type { World } from "./world.ts";

const NODE = "server";
const LIFECYCLE = [
  "stream.started",
  "stream.idle",
  "recording.started",
  "recording.waiting",
  "recording.ready",
] as const;

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
    this.#names = new NameCollector([{ node: NODE, hlsUrl: token === null ? hlsUrl : `${hlsUrl}?jwt=${token}` }]);
    this.#followers = [new Follower(world.weir, encoder.stream), new Follower(world.weir, encoder.stream)];
  }

  get names(): number {
    return this.#names.names;
  }

  async state(): Promise<string> {
    return (await this.#world.weir.client.streams.get(this.encoder.stream.id)).status.state;
  }

  /** What was served and must never be. */
  problems(): string[] {
    return [...this.#names.clashes, ...this.#names.fallsAt(NODE)];
  }

  /** Resolves with the events of the stream. Throws where a follower did not get each of them once and in order. */
  log(): Promise<StreamEvent[]> {
    return expectWholeLog(this.#world.weir, this.encoder.stream, this.#followers);
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
      const recorded = source ? (await listedSegments(source.url)).filter(({ isGap }) => !isGap) : [];
      if (recorded.length < seen - mostLost)
        found.push(`session ${session.id}: ${seen} segments were live, ${recorded.length} are recorded`);
      found.push(...(await unreadable(recorded.map(({ url }) => url))));
    }
    return found;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#names.stop();
    for (const follower of this.#followers) await follower[Symbol.asyncDispose]();
  }
}

/** Rows without their objects: what is listed and not there. */
async function unreadable(urls: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const url of new Set(urls)) {
    const answer = await fetch(url);
    await answer.arrayBuffer();
    if (!answer.ok) found.push(`${url} is answered ${answer.status}`);
  }
  return found;
}

/** A customer's receiver that fails as often as not. */
export class Customer implements AsyncDisposable {
  /** Ids that were answered with 200, each once, in order. */
  readonly #accepted = new Set<string>();
  readonly #receiver: WebhookReceiver;
  #isMoody = true;

  private constructor(receiver: WebhookReceiver, chance: Chance) {
    this.#receiver = receiver;
    receiver.answer = (response, { body }) => {
      const mood = this.#isMoody ? chance.next() : 1;
      if (mood < 0.1) response.writeHead(500).end();
      else if (mood < 0.2) response.destroy();
      else {
        this.#accepted.add(body.id);
        response.end();
      }
    };
  }

  static async start(world: World, chance: Chance): Promise<Customer> {
    const receiver = await startWebhookReceiver();
    const webhook = { name: "campaign", url: receiver.url, events: [...LIFECYCLE] };
    await world.weir.client.webhooks.create(webhook);
    return new Customer(receiver, chance);
  }

  /** From now on it takes everything. */
  calm(): void {
    this.#isMoody = false;
  }

  /** Events of a log that it never got, or not in order. */
  problems(log: readonly StreamEvent[]): string[] {
    const due = log.filter(isLifecycle).map(({ id }) => id);
    const got = [...this.#accepted].filter((id) => due.includes(id));
    const missing = due.filter((id) => !this.#accepted.has(id)).map((id) => `the webhook never got event ${id}`);
    return missing.length > 0 || got.join() === due.join() ? missing : ["the webhook got events out of order"];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#receiver[Symbol.asyncDispose]();
  }
}

const isLifecycle = (event: StreamEvent): boolean =>
  event.type === "stream_state" || (event.type === "webhook_event" && LIFECYCLE.some((name) => name === event.event));
