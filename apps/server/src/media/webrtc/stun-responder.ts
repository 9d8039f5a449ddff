import type { RemoteInfo, Socket } from "node:dgram";
import type { Clock, Timer } from "../../platform/clock.ts";
import { clientOf } from "../../platform/limits/client.ts";

const HEADER_BYTES = 20;
const MAGIC_COOKIE = 0x2112a442;
const BINDING_REQUEST = 0x0001;
const BINDING_RESPONSE = 0x0101;
const XOR_MAPPED_ADDRESS = 0x0020;
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
  const bytes = addressBytes(address);
  const answer = new DataView(new ArrayBuffer(HEADER_BYTES + 8 + bytes.length));
  answer.setUint16(0, BINDING_RESPONSE);
  answer.setUint16(2, 8 + bytes.length);
  // The response repeats the cookie and the transaction id, which also obfuscate the address, so that NATs do not rewrite it.
  for (let at = 4; at < HEADER_BYTES; at++) answer.setUint8(at, view.getUint8(at));
  answer.setUint16(20, XOR_MAPPED_ADDRESS);
  answer.setUint16(22, 4 + bytes.length);
  answer.setUint8(25, bytes.length === 4 ? 1 : 2);
  answer.setUint16(26, port ^ (MAGIC_COOKIE >>> 16));
  for (const [index, byte] of bytes.entries()) answer.setUint8(28 + index, byte ^ view.getUint8(4 + index));
  return new Uint8Array(answer.buffer);
}

function addressBytes(address: string): number[] {
  const plain = address.replace(/^::ffff:(?=\d+\.)/, "").replace(/%.*$/, "");
  if (!plain.includes(":")) return plain.split(".").map(Number);
  const [head = "", tail] = plain.split("::");
  const groups = (text: string) => (text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16)));
  const before = groups(head);
  const after = tail === undefined ? [] : groups(tail);
  const all = [...before, ...new Array<number>(8 - before.length - after.length).fill(0), ...after];
  return all.flatMap((group) => [group >> 8, group & 255]);
}
