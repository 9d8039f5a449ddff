import type { StreamEvent } from "@weir/contract";
import type { Chance } from "../support/chance.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../support/webhook-receiver.ts";
import type { World } from "./world.ts";

const LIFECYCLE = [
  "stream.started",
  "stream.idle",
  "recording.started",
  "recording.waiting",
  "recording.ready",
] as const;

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
