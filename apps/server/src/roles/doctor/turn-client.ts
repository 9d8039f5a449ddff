import { createHash, createHmac, randomBytes } from "node:crypto";
import { createSocket, type Socket as UdpSocket } from "node:dgram";
import { once } from "node:events";
import { connect as connectTcp, isIPv6, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

const ANSWER_WITHIN_MS = 3_000;
const HEADER_BYTES = 20;
const COOKIE = 0x2112a442;
/** RFC 8656, section 17. */
const METHOD = { allocate: 0x003, refresh: 0x004, send: 0x006, createPermission: 0x008 };
const INDICATION = 0x010;
const REFUSED = 0x110;
const ATTRIBUTE = {
  username: 0x0006,
  integrity: 0x0008,
  errorCode: 0x0009,
  lifetime: 0x000d,
  peer: 0x0012,
  data: 0x0013,
  realm: 0x0014,
  nonce: 0x0015,
  transport: 0x0019,
};
const UDP = Buffer.from([17, 0, 0, 0]);

export interface TurnAddress {
  readonly host: string;
  readonly port: number;
  readonly transport: "udp" | "tcp" | "tls";
}

/** A TURN server's refusal, with the code of its answer. */
export class TurnRefused extends Error {
  readonly code: number;

  constructor(code: number) {
    super(`refused with ${code}`);
    this.code = code;
  }
}

/** The parts of a `turn:` or `turns:` URL (RFC 7065). */
export function readTurnUrl(url: string): TurnAddress {
  const [, scheme, host = "", port, transport] =
    /^(turns?):(\[[^\]]+\]|[^:?]+)(?::(\d+))?(?:\?transport=(udp|tcp))?$/i.exec(url) ?? [];
  const isSecure = scheme?.toLowerCase() === "turns";
  return {
    host: host.replace(/^\[|\]$/g, ""),
    port: Number(port ?? (isSecure ? 5349 : 3478)),
    transport: isSecure ? "tls" : transport === "tcp" ? "tcp" : "udp",
  };
}

/** An allocation at a TURN server (RFC 8656) with credentials for some minutes, to see whom it lets a client reach. */
export class TurnClient implements AsyncDisposable {
  readonly #line: Line;
  readonly #username: string;
  readonly #password: string;
  #realm = "";
  #nonce: Buffer = Buffer.alloc(0);

  private constructor(line: Line, username: string, password: string) {
    this.#line = line;
    this.#username = username;
    this.#password = password;
  }

  /** Rejects with `TurnRefused` where the server refuses the credentials, and with another error where it does not answer. */
  static async allocate(address: TurnAddress, username: string, password: string): Promise<TurnClient> {
    const client = new TurnClient(await openLine(address), username, password);
    const wanted = attribute(ATTRIBUTE.transport, UDP);
    try {
      // The first answer is the challenge.
      const challenge = await client.#line.ask(METHOD.allocate, wanted);
      client.#realm = attributeIn(challenge, ATTRIBUTE.realm)?.toString() ?? "";
      client.#nonce = attributeIn(challenge, ATTRIBUTE.nonce) ?? Buffer.alloc(0);
      await client.#ask(METHOD.allocate, wanted);
      return client;
    } catch (error) {
      client.#line.close();
      throw error;
    }
  }

  /** Asks to exchange packets with this IPv4 address. Rejects with `TurnRefused` where that is not allowed. */
  async permit(address: string): Promise<void> {
    await this.#ask(METHOD.createPermission, attribute(ATTRIBUTE.peer, peerBytes(address, 0)));
  }

  /** Sends a packet to a peer that was permitted. */
  send(address: string, port: number, data: Uint8Array): void {
    const attributes = [
      attribute(ATTRIBUTE.peer, peerBytes(address, port)),
      attribute(ATTRIBUTE.data, Buffer.from(data)),
    ];
    this.#line.send(message(METHOD.send | INDICATION, randomBytes(12), Buffer.concat(attributes)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#ask(METHOD.refresh, attribute(ATTRIBUTE.lifetime, Buffer.alloc(4))).catch(() => {});
    this.#line.close();
  }

  async #ask(method: number, wanted: Buffer): Promise<Buffer> {
    const key = createHash("md5").update(`${this.#username}:${this.#realm}:${this.#password}`).digest();
    const known = [
      attribute(ATTRIBUTE.username, Buffer.from(this.#username)),
      attribute(ATTRIBUTE.realm, Buffer.from(this.#realm)),
      attribute(ATTRIBUTE.nonce, this.#nonce),
    ];
    const answer = await this.#line.ask(method, Buffer.concat([wanted, ...known]), key);
    const error = attributeIn(answer, ATTRIBUTE.errorCode);
    if (error || (answer.readUInt16BE(0) & REFUSED) === REFUSED)
      throw new TurnRefused((error?.[2] ?? 5) * 100 + (error?.[3] ?? 0));
    return answer;
  }
}

/** STUN messages to and from a server, over any transport. */
interface Line {
  ask(method: number, attributes: Buffer, key?: Buffer): Promise<Buffer>;
  send(packet: Buffer): void;
  close(): void;
}

async function openLine({ host, port, transport }: TurnAddress): Promise<Line> {
  const waiting = new Map<string, (answer: Buffer) => void>();
  const take = (packet: Buffer): void => waiting.get(packet.toString("hex", 8, HEADER_BYTES))?.(packet);
  const wire = transport === "udp" ? udpWire(host, port, take) : await streamWire(host, port, transport, take);
  return {
    ...wire,
    async ask(method, attributes, key) {
      const id = randomBytes(12);
      const answered = Promise.withResolvers<Buffer>();
      const late = setTimeout(() => answered.reject(new Error("no answer")), ANSWER_WITHIN_MS);
      waiting.set(id.toString("hex"), answered.resolve);
      wire.send(message(method, id, attributes, key));
      return answered.promise.finally(() => {
        clearTimeout(late);
        waiting.delete(id.toString("hex"));
      });
    },
  };
}

function udpWire(host: string, port: number, take: (packet: Buffer) => void): Pick<Line, "send" | "close"> {
  const socket: UdpSocket = createSocket(isIPv6(host) ? "udp6" : "udp4");
  socket.on("message", (packet) => packet.length >= HEADER_BYTES && take(packet));
  // What cannot be sent gets no answer.
  socket.on("error", () => {});
  return { send: (packet) => socket.send(packet, port, host, () => {}), close: () => socket.close() };
}

async function streamWire(
  host: string,
  port: number,
  transport: "tcp" | "tls",
  take: (packet: Buffer) => void,
): Promise<Pick<Line, "send" | "close">> {
  const socket: Socket =
    transport === "tls" ? connectTls({ host, port, servername: host }) : connectTcp({ host, port });
  try {
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
    await once(socket, transport === "tls" ? "secureConnect" : "connect", { signal });
  } catch (error) {
    socket.destroy();
    throw error;
  }
  socket.on("error", () => {});
  let received: Buffer = Buffer.alloc(0);
  socket.on("data", (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    while (received.length >= HEADER_BYTES) {
      const length = HEADER_BYTES + received.readUInt16BE(2);
      if (received.length < length) return;
      take(received.subarray(0, length));
      received = received.subarray(length);
    }
  });
  return { send: (packet) => void socket.write(packet), close: () => socket.destroy() };
}

/** With `key`, the message is signed (RFC 8489, section 14.5). */
function message(type: number, id: Buffer, attributes: Buffer, key?: Buffer): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt16BE(type, 0);
  header.writeUInt16BE(attributes.length + (key ? 24 : 0), 2);
  header.writeUInt32BE(COOKIE, 4);
  id.copy(header, 8);
  const plain = Buffer.concat([header, attributes]);
  if (!key) return plain;
  return Buffer.concat([plain, attribute(ATTRIBUTE.integrity, createHmac("sha1", key).update(plain).digest())]);
}

function attribute(type: number, value: Buffer): Buffer {
  const bytes = Buffer.alloc(4 + Math.ceil(value.length / 4) * 4);
  bytes.writeUInt16BE(type, 0);
  bytes.writeUInt16BE(value.length, 2);
  value.copy(bytes, 4);
  return bytes;
}

function attributeIn(packet: Buffer, wanted: number): Buffer | null {
  for (let at = HEADER_BYTES; at + 4 <= packet.length; ) {
    const length = packet.readUInt16BE(at + 2);
    if (packet.readUInt16BE(at) === wanted) return packet.subarray(at + 4, at + 4 + length);
    at += 4 + Math.ceil(length / 4) * 4;
  }
  return null;
}

/** An IPv4 address and a port, obfuscated with the cookie. */
function peerBytes(address: string, port: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes[1] = 1;
  bytes.writeUInt16BE(port ^ (COOKIE >>> 16), 2);
  const host = Buffer.from(address.split(".").map(Number)).readUInt32BE();
  bytes.writeUInt32BE((host ^ COOKIE) >>> 0, 4);
  return bytes;
}
