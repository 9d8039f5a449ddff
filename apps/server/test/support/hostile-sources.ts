import { createServer as createHttpServer, type RequestListener } from "node:http";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import {
  answerHandshake,
  CLIENT_HELLO_BYTES,
  MESSAGE,
  uint32Payload,
  writeCommand,
  writeMessage,
} from "@weir/formats/rtmp";

const DRIP_MS = 200;
const MEGABYTE = new Uint8Array(1024 * 1024).fill(0x41);
const CRYPTO = { hmacSha256: () => new Uint8Array(32), random: (bytes: number) => new Uint8Array(bytes) };

/** Writes for as long as somebody reads. */
function flood(socket: Socket, bytes: () => Uint8Array): void {
  const more = () => {
    while (!socket.destroyed && socket.write(bytes()));
    if (!socket.destroyed) socket.once("drain", more);
  };
  more();
}

function drip(socket: Socket, text: string): void {
  let at = 0;
  const timer = setInterval(() => socket.write(text[at++ % text.length] ?? ""), DRIP_MS);
  socket.once("close", () => clearInterval(timer));
}

const box = (type: string, size: number) => {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(size);
  head.write(type, 4, "latin1");
  return head;
};
const many = (type: string) => Buffer.concat(Array.from({ length: 100_000 }, () => box(type, 8)));
const [FREE, TRACKS] = [many("free"), many("trak")];
const OK = "HTTP/1.1 200 OK\r\n";
const LIST = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n";

/** Of each a server over TCP, and the end of its address. */
const SOURCES: Readonly<Record<string, (socket: Socket) => void>> = {
  "a head that never ends": (socket) => drip(socket, `${OK}X-Header: `),
  "a body of one byte at a time": (socket) => {
    socket.write(`${OK}content-length: 100000000\r\n\r\nG`);
    drip(socket, "G");
  },
  "a playlist that never ends": (socket) => {
    socket.write(`${OK}\r\n${LIST}`);
    flood(socket, () => MEGABYTE);
  },
  "a transport stream of nothing": (socket) => {
    socket.write(`${OK}\r\nG`);
    flood(socket, () => MEGABYTE);
  },
  "an index of 4 GB": (socket) => {
    socket.write(`${OK}\r\n`);
    socket.write(Buffer.concat([box("ftyp", 8), box("moov", 0xffff_ffff)]));
    flood(socket, () => MEGABYTE);
  },
  "an index of boxes without end": (socket) => {
    socket.write(`${OK}\r\n`);
    socket.write(Buffer.concat([box("ftyp", 8), box("moov", 16 * 1024 * 1024)]));
    flood(socket, () => TRACKS);
  },
  "small boxes without end": (socket) => {
    socket.write(`${OK}\r\n`);
    socket.write(box("ftyp", 8));
    flood(socket, () => FREE);
  },
  "media without an index and without end": (socket) => {
    socket.write(`${OK}\r\n`);
    socket.write(Buffer.concat([box("ftyp", 8), box("mdat", 0)]));
    flood(socket, () => MEGABYTE);
  },
};

/** Reads the handshake of a player, and sends `media` behind what servers answer. */
function rtmp(media: (socket: Socket) => void): (socket: Socket) => void {
  const answer = (typeId: number, payload: Uint8Array) =>
    writeMessage({ chunkStreamId: 3, typeId, timestamp: 0, streamId: 0, payload }, 128);
  return (socket) => {
    let hello = Buffer.alloc(0);
    socket.on("data", (bytes: Buffer) => {
      if (hello.byteLength >= CLIENT_HELLO_BYTES) return;
      hello = Buffer.concat([hello, bytes]);
      if (hello.byteLength < CLIENT_HELLO_BYTES) return;
      socket.write(answerHandshake(hello.subarray(0, CLIENT_HELLO_BYTES), CRYPTO));
      socket.write(answer(MESSAGE.commandAmf0, writeCommand("_result", 1, {}, {})));
      socket.write(answer(MESSAGE.commandAmf0, writeCommand("_result", 4, null, 1)));
      socket.write(answer(MESSAGE.commandAmf0, writeCommand("onStatus", 0, null, { code: "NetStream.Play.Start" })));
      socket.write(answer(MESSAGE.setChunkSize, uint32Payload(0xffffff)));
      media(socket);
    });
  };
}

const RTMP_SOURCES: Readonly<Record<string, (socket: Socket) => void>> = {
  "messages of 12 MB that stop before their end": rtmp((socket) => {
    // On 60 chunk streams each the header of a message, and 64 KiB of it.
    for (let id = 3; id < 63; id++)
      socket.write(
        Buffer.concat([Buffer.from([id, 0, 0, 0, 0xb7, 0x1b, 0, 9, 1, 0, 0, 0]), MEGABYTE.subarray(0, 65_536)]),
      );
  }),
  "pictures of nothing as fast as they are taken": rtmp((socket) => {
    const head = Buffer.from([4, 0, 0, 0, 0x0f, 0xff, 0xff, 9, 1, 0, 0, 0, 0x17, 1]);
    const picture = Buffer.concat([head, MEGABYTE.subarray(0, 0x0fffff - 2)]);
    flood(socket, () => picture);
  }),
};

const RTSP_SOURCES: Readonly<Record<string, (socket: Socket) => void>> = {
  "an answer that never ends": (socket) => {
    socket.write("RTSP/1.0 200 OK\r\nCSeq: 1\r\nX: ");
    flood(socket, () => MEGABYTE);
  },
};

const BOMB = gzipSync(new Uint8Array(64 * 1024 * 1024));
const PATHS: Readonly<Record<string, RequestListener>> = {
  "a redirect to itself": ({ url = "" }, response) => void response.writeHead(302, { location: url }).end(),
  "a playlist in 60 kB that are 64 MB": (_request, response) =>
    void response
      .writeHead(200, { "content-encoding": "gzip", "content-type": "application/vnd.apple.mpegurl" })
      .end(BOMB),
  "a playlist that leads to itself": (_request, response) =>
    void response.end("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n?again\n"),
  "a playlist of segments that are not there": (_request, response) =>
    void (response.req.url?.startsWith("/?")
      ? response.end(`${LIST}${"#EXTINF:1,\nmissing\n".repeat(20_000)}`)
      : response.writeHead(404).end()),
};

/** One server for each way of being a bad source. */
export class HostileSources implements AsyncDisposable {
  readonly sources: { readonly name: string; readonly url: string }[] = [];
  readonly #servers: Server[] = [];
  readonly #open = new Set<Socket>();
  /** Connections so far, by name. */
  readonly connections = new Map<string, number>();

  static async start(): Promise<HostileSources> {
    const all = new HostileSources();
    for (const [scheme, group] of [
      ["http", SOURCES],
      ["rtmp", RTMP_SOURCES],
      ["rtsp", RTSP_SOURCES],
    ] as const)
      for (const [name, serve] of Object.entries(group)) await all.#add(name, scheme, createServer(serve));
    for (const [name, answer] of Object.entries(PATHS)) await all.#add(name, "http", createHttpServer(answer));
    return all;
  }

  get openConnections(): number {
    return this.#open.size;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    await Promise.all(this.#servers.map((server) => new Promise((resolve) => server.close(resolve))));
  }

  async #add(name: string, scheme: string, server: Server): Promise<void> {
    server.prependListener("connection", (socket: Socket) => {
      this.#open.add(socket);
      this.connections.set(name, (this.connections.get(name) ?? 0) + 1);
      socket.on("error", () => {});
      socket.once("close", () => this.#open.delete(socket));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    this.#servers.push(server);
    const { port } = server.address() as AddressInfo;
    this.sources.push({ name, url: `${scheme}://127.0.0.1:${port}/${scheme === "rtmp" ? "live/a" : ""}` });
  }
}
