import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { WebhookDelivery } from "@weir/contract";

export interface WebhookCall {
  readonly at: number;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
  readonly body: WebhookDelivery;
}

export interface WebhookReceiver extends AsyncDisposable {
  readonly url: string;
  /** All calls with a complete body, in order. */
  readonly calls: WebhookCall[];
  /** The response from now on; initially 200. */
  answer: (response: ServerResponse, call: WebhookCall) => void;
}

/** A customer's webhook receiver, on loopback. */
export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const calls: WebhookCall[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const call = { at: performance.now(), headers: request.headers, text, body: JSON.parse(text) as WebhookDelivery };
    calls.push(call);
    receiver.answer(response, call);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const receiver: WebhookReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    calls,
    answer: (response) => void response.end(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}
