import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Webhook, WebhookEventName, WebhookRequest } from "@weir/client";
import type { Command } from "commander";
import { Cli } from "../cli.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import { names } from "../option-values.ts";

/** Weir never calls it: the webhook is paused, and this name has no address (RFC 2606). */
const NO_ADDRESS = "https://weir-webhooks-listen.invalid/";
/** All that are notifications; the last two of the contract are none. */
const EVENTS: readonly WebhookEventName[] = [
  ...(["stream.started", "stream.idle", "recording.started", "recording.waiting", "recording.ready"] as const),
  ...(["recording.deleted", "multistream.connected", "multistream.error", "multistream.disconnected"] as const),
  ...(["playback.user.new", "asset.created", "asset.updated", "asset.ready", "asset.failed", "asset.deleted"] as const),
  ...(["task.spawned", "task.updated", "task.completed", "task.failed"] as const),
];
const LOOK_MS = 1_000;
const ANSWER_WITHIN_MS = 30_000;

interface ListenOptions {
  readonly forwardTo?: string;
  readonly events?: readonly string[];
  readonly secret?: string;
}

/** `weir webhooks …` */
export function webhookCommands(program: Command): void {
  program
    .command("webhooks")
    .description("receive webhooks on this machine")
    .command("listen")
    .description("fetch the events of the project and send them to a receiver on this machine, until you press Ctrl-C")
    .option("--forward-to <url>", "receiver, such as http://localhost:3000/hook; without it, bodies are printed")
    .option("--events <names>", "only these events, with commas between them", names)
    .option("--secret <text>", "shared secret of the signature; a random one by default")
    .action(async (options: ListenOptions, command: Command) => {
      const cli = new Cli(command);
      if (options.forwardTo !== undefined && !URL.canParse(options.forwardTo))
        throw new CliError(`${options.forwardTo} is not a URL, such as http://localhost:3000/hook`, EXIT.usage);
      const stopping = new AbortController();
      for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopping.abort());
      const sharedSecret = options.secret ?? randomBytes(24).toString("hex");
      const webhook = await openWebhook(
        cli,
        (options.events as WebhookEventName[] | undefined) ?? EVENTS,
        sharedSecret,
      );
      cli.note(`Listening to ${webhook.events.length} events. Shared secret: ${sharedSecret}`);
      try {
        await listen(cli, webhook, options.forwardTo, stopping.signal);
      } finally {
        await cli.client.webhooks.delete(webhook.id);
      }
    });
}

/** A paused webhook, whose events wait for us. One that a killed run has left is replaced. */
async function openWebhook(cli: Cli, events: readonly WebhookEventName[], sharedSecret: string): Promise<Webhook> {
  const name = `weir webhooks listen on ${cli.machine}`;
  const { webhooks } = cli.client;
  for await (const old of webhooks.each({ limit: 100 }))
    if (old.name === name && old.url === NO_ADDRESS) await webhooks.delete(old.id);
  const webhook = await webhooks.create({ name, url: NO_ADDRESS, events: [...events], sharedSecret });
  await webhooks.pause(webhook.id);
  return webhook;
}

async function listen(cli: Cli, webhook: Webhook, forwardTo: string | undefined, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const requests = await cli.client.webhooks.take(webhook.id);
    for (const request of requests) {
      if (forwardTo === undefined) cli.print.line(request.body);
      else cli.print.line(await forward(cli, request, forwardTo));
    }
    // More may wait than one answer holds.
    if (requests.length === 0) await sleep(LOOK_MS, undefined, { signal }).catch(() => {});
  }
}

/** One line about the outcome. A receiver that fails is not tried again: its developer looks on. */
async function forward({ print }: Cli, { event, headers, body }: WebhookRequest, url: string): Promise<string> {
  const startedAt = performance.now();
  const { id } = JSON.parse(body) as { id: string };
  const outcome = await fetch(url, { method: "POST", headers, body, signal: AbortSignal.timeout(ANSWER_WITHIN_MS) })
    .then(({ status }) => String(status))
    .catch((error: Error) => `no answer (${(error.cause as Error | undefined)?.message ?? error.message})`);
  const durationMs = Math.round(performance.now() - startedAt);
  if (print.isJson) return JSON.stringify({ event, id, outcome, durationMs });
  return `${print.style("bold", event.padEnd(24))}  ${outcome}  ${durationMs} ms  ${print.style("dim", id)}`;
}
