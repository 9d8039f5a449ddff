import type { RemoteInfo, Socket } from "node:dgram";
import type { Clock, Timer } from "../../platform/clock.ts";
import { clientOf } from "../../platform/limits/client.ts";
import {
  BINDING_REQUEST,
  BINDING_RESPONSE,
  HEADER_BYTES,
  MAGIC_COOKIE,
  XOR_MAPPED_ADDRESS,
  xorMappedAddress,
} from "./stun-message.ts";

/**
 * A browser sends about ten requests. The limit prevents amplification: a response is larger than a request, and the sender's address may be forged.
 */
const MAX_ANSWERS_A_SECOND = 20;
const MAX_CLIENTS_A_SECOND = 5_000;

/**
 * Tells clients their public address (RFC 8489, Binding only). Public players expect this service on UDP port 3478 of the server that they play
 * from.
 */
export class StunResponder {
  readonly #socket: Socket;
  readonly #answered = new Map<string, number>();
  readonly #timer: Timer;

  constructor(socket: Socket, clock: Clock) {
    this.#socket = socket;
    this.#timer = clock.every(1000, () => this.#answered.clear());
    socket.on("message", (message, from) => this.#receive(message, from));
    socket.on("error", () => {}); // a response to an invalid address; nothing else is affected
  }

  async close(): Promise<void> {
    this.#timer.cancel();
    await new Promise<void>((resolve) => this.#socket.close(resolve));
  }

  #receive(message: Buffer, from: RemoteInfo): void {
    const answer = bindingAnswer(message, from.address, from.port);
    if (answer && this.#mayAnswer(clientOf(from.address))) this.#socket.send(answer, from.port, from.address, () => {});
  }

  #mayAnswer(client: string): boolean {
    const answered = this.#answered.get(client) ?? 0;
    if (answered >= MAX_ANSWERS_A_SECOND || (answered === 0 && this.#answered.size >= MAX_CLIENTS_A_SECOND))
      return false;
    this.#answered.set(client, answered + 1);
    return true;
  }
}

/** The response to a Binding request; null for other messages. */
export function bindingAnswer(message: Uint8Array, address: string, port: number): Uint8Array | null {
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength);
  if (message.length < HEADER_BYTES || view.getUint16(0) !== BINDING_REQUEST || view.getUint32(4) !== MAGIC_COOKIE)
    return null;
  if (view.getUint16(2) !== message.length - HEADER_BYTES) return null;
  const mapped = xorMappedAddress(message, address, port);
  const answer = new DataView(new ArrayBuffer(HEADER_BYTES + 4 + mapped.length));
  answer.setUint16(0, BINDING_RESPONSE);
  answer.setUint16(2, 4 + mapped.length);
  // The response repeats the cookie and the transaction id.
  for (let at = 4; at < HEADER_BYTES; at++) answer.setUint8(at, view.getUint8(at));
  answer.setUint16(20, XOR_MAPPED_ADDRESS);
  answer.setUint16(22, mapped.length);
  const bytes = new Uint8Array(answer.buffer);
  bytes.set(mapped, HEADER_BYTES + 4);
  return bytes;
}
