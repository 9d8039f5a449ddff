import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { makeFile } from "../../src/media/vod/media-file-rig.ts";
import { everyFrame } from "../../src/media/vod/media-track-rig.ts";

const RATE = 15;
const PIECE_BYTES = 16 * 1024;
const TURN_MS = 20;

/** A file over HTTP that the server pulls a stream from. It can be cut and fall silent. */
export class PulledSource implements AsyncDisposable {
  isSilent = false;
  readonly #bytes: Buffer;
  readonly #server: Server;

  private constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#server = createServer((req, res) => this.#answer(req, res));
  }

  /** A source of this length. */
  static async open(seconds: number): Promise<PulledSource> {
    await using file = await makeFile({
      format: "mp4",
      video: {
        ...{ encoder: "libx264", width: 320, height: 180, times: everyFrame(RATE, seconds), gopFrames: 2 * RATE },
        options: { preset: "ultrafast", b: "100000" },
      },
      audio: { encoder: "aac", seconds },
    });
    const source = new PulledSource(await readFile(file.path));
    await new Promise<void>((resolve) => source.#server.listen(0, "127.0.0.1", resolve));
    return source;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/film.mp4`;
  }

  /** Breaks all of its connections. */
  cut(): void {
    this.#server.closeAllConnections();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #answer({ headers: { range } }: IncomingMessage, response: ServerResponse): void {
    const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(range ?? "") ?? [];
    const bytes = this.#bytes.subarray(Number(from ?? 0), to ? Number(to) + 1 : undefined);
    response.on("error", () => {});
    response.writeHead(from === undefined ? 200 : 206, { "content-length": bytes.byteLength });
    let at = 0;
    const turn = setInterval(() => {
      if (response.destroyed || at >= bytes.byteLength) {
        clearInterval(turn);
        response.end();
        return;
      }
      if (this.isSilent || response.writableNeedDrain) return;
      response.write(bytes.subarray(at, at + PIECE_BYTES));
      at += PIECE_BYTES;
    }, TURN_MS);
    response.once("close", () => clearInterval(turn));
  }
}
