import { connect, type Socket } from "node:net";
import { videoPlaylistUrl } from "./hls-reader.ts";

const HEAD_END = Buffer.from("\r\n\r\n");
/** The last part of a playlist, its hint and its reports of other renditions are in these bytes. */
const TAIL_BYTES = 1_500;
const RENDITIONS = ["source", "audio"];

/** Requests that all viewers of a process have made, the longest time until one was answered, and why some viewers ended too early. */
export interface ViewerCounts {
  requests: number;
  longestMs: number;
  readonly failures: string[];
}

/**
 * A low-latency viewer of a live stream as players behave: for each rendition a playlist request that waits, then the part that it lists. It reads
 * no more of what it gets than it must, so that many fit into one process.
 */
export class LiveViewer {
  readonly #loops: RenditionLoop[];

  private constructor(loops: RenditionLoop[]) {
    this.#loops = loops;
  }

  /** `credential` makes it a viewer of its own. Resolves when it knows the playlists. Throws if there is no video within 15 s. */
  static async start(hlsUrl: string, credential: string, from: string, counts: ViewerCounts): Promise<LiveViewer> {
    const video = new URL(await videoPlaylistUrl(`${hlsUrl}?tkn=${credential}`));
    const loops = RENDITIONS.map((name) => {
      const url = new URL(video);
      url.pathname = url.pathname.replace("/source/", `/${name}/`);
      return new RenditionLoop(url, from, counts);
    });
    return new LiveViewer(loops);
  }

  stop(): void {
    for (const loop of this.#loops) loop.stop();
  }
}

/** One connection, one request at a time. */
class RenditionLoop {
  readonly #url: URL;
  readonly #folder: string;
  readonly #socket: Socket;
  readonly #counts: ViewerCounts;
  /** Bytes of the body that are still to come; null before the head is complete. */
  #left: number | null = null;
  #head: Buffer = Buffer.alloc(0);
  #tail: Buffer = Buffer.alloc(0);
  #isPlaylist = true;
  /** The path of the request under way, and when it was sent. */
  #asked = "";
  #askedAt = 0;
  #next = { msn: 0, part: 0 };

  constructor(url: URL, from: string, counts: ViewerCounts) {
    this.#url = url;
    this.#folder = url.pathname.slice(0, url.pathname.lastIndexOf("/") + 1);
    this.#counts = counts;
    this.#socket = connect({ host: url.hostname, port: Number(url.port), localAddress: from }).setNoDelay(true);
    this.#socket.on("error", (error) => this.#fail(error.message));
    this.#socket.on("data", (bytes: Buffer) => this.#read(bytes));
    this.#request(`${url.pathname}${url.search}`);
  }

  stop(): void {
    this.#socket.destroy();
  }

  #fail(why: string): void {
    this.#counts.failures.push(`${this.#asked}: ${why}`);
    this.stop();
  }

  #request(path: string): void {
    this.#asked = path;
    this.#askedAt = performance.now();
    this.#socket.write(`GET ${path} HTTP/1.1\r\nHost: ${this.#url.host}\r\n\r\n`, "latin1");
  }

  #read(bytes: Buffer): void {
    let body = bytes;
    if (this.#left === null) {
      const all = this.#head.byteLength === 0 ? bytes : Buffer.concat([this.#head, bytes]);
      const end = all.indexOf(HEAD_END);
      if (end < 0) {
        this.#head = all;
        return;
      }
      const head = all.toString("latin1", 0, end);
      if (!head.startsWith("HTTP/1.1 200")) {
        return this.#fail(head.slice(0, head.indexOf("\r\n")));
      }
      this.#left = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
      this.#head = Buffer.alloc(0);
      body = all.subarray(end + HEAD_END.byteLength);
    }
    this.#left -= body.byteLength;
    if (this.#isPlaylist) this.#tail = Buffer.concat([this.#tail, body]).subarray(-TAIL_BYTES);
    if (this.#left <= 0) this.#complete();
  }

  #complete(): void {
    this.#counts.requests++;
    this.#counts.longestMs = Math.max(this.#counts.longestMs, performance.now() - this.#askedAt);
    this.#left = null;
    if (!this.#isPlaylist) return this.#askForPlaylist();
    const text = this.#tail.toString("latin1");
    const at = text.lastIndexOf("#EXT-X-PART:");
    const [, name = "", msn, part] = /URI="((\d+)\.(\d+)\.m4s[^"]*)"/.exec(text.slice(at)) ?? [];
    this.#tail = Buffer.alloc(0);
    // Of an ended stream, or one that has just begun.
    if (at < 0 || name === "") {
      return this.#fail(`a playlist without parts: ${text}`);
    }
    this.#next = { msn: Number(msn), part: Number(part) + 1 };
    this.#isPlaylist = false;
    this.#request(this.#folder + name);
  }

  #askForPlaylist(): void {
    this.#isPlaylist = true;
    const { pathname, search } = this.#url;
    const { msn, part } = this.#next;
    this.#request(`${pathname}${search}${search === "" ? "?" : "&"}_HLS_msn=${msn}&_HLS_part=${part}`);
  }
}
