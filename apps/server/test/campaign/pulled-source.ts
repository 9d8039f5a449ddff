import { copyFile, mkdir, readFile, rename } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { makeFile } from "../../src/media/vod/media-file-rig.ts";
import { everyFrame } from "../../src/media/vod/media-track-rig.ts";

const KEPT_IN = fileURLToPath(new URL("../../../../node_modules/.cache/weir-campaign", import.meta.url));
const RATE = 15;
const PIECE_BYTES = 16 * 1024;
const TURN_MS = 20;

/** A film of this length. Making it takes a minute, so that it is kept for the next run. */
async function filmOf(seconds: number): Promise<Buffer> {
  const kept = join(KEPT_IN, `campaign-${seconds}.mp4`);
  const found = await readFile(kept).catch(() => null);
  if (found) return found;
  await using file = await makeFile({
    format: "mp4",
    video: {
      ...{ encoder: "libx264", width: 320, height: 180, times: everyFrame(RATE, seconds), gopFrames: 2 * RATE },
      options: { preset: "ultrafast", b: "100000" },
    },
    audio: { encoder: "aac", seconds },
  });
  await mkdir(KEPT_IN, { recursive: true });
  // Whole at once: a run may be ended at any moment.
  await copyFile(file.path, `${kept}.new`);
  await rename(`${kept}.new`, kept);
  return readFile(kept);
}

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
    const source = new PulledSource(await filmOf(seconds));
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
