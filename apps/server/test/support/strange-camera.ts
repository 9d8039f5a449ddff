import { type ChildProcess, spawn } from "node:child_process";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

const PACKET = 188;
/** FFmpeg's first stream. */
const VIDEO_PID = 0x100;
const PROGRAM = "ffmpeg";

export interface CameraHabits {
  /** Its clock begins here. */
  readonly startsAtSeconds?: number;
  /** A picture is hours off each time after so many. */
  readonly straysEverySeconds?: number;
  /** It ends each connection after so many, and begins again at the time it starts at. */
  readonly leavesAfterSeconds?: number;
}

/** A camera with a strange clock: MPEG-TS over HTTP in real time, one encoder for each connection. */
export class StrangeCamera implements AsyncDisposable {
  readonly #habits: CameraHabits;
  readonly #children = new Set<ChildProcess>();
  readonly #server = createServer((_request, response) => this.#serve(response));
  connections = 0;
  /** Of them, now. */
  open = 0;
  strays = 0;

  static async start(habits: CameraHabits): Promise<StrangeCamera> {
    const camera = new StrangeCamera(habits);
    await new Promise<void>((resolve) => camera.#server.listen(0, "127.0.0.1", resolve));
    return camera;
  }

  private constructor(habits: CameraHabits) {
    this.#habits = habits;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/camera.ts`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#children) child.kill("SIGKILL");
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #serve(response: ServerResponse): void {
    const { startsAtSeconds = 0, straysEverySeconds, leavesAfterSeconds } = this.#habits;
    this.connections++;
    this.open++;
    const media = "-re -f lavfi -i testsrc2=size=320x180:rate=30 -re -f lavfi -i sine=frequency=440:sample_rate=48000";
    const codecs = "-c:v libx264 -preset ultrafast -tune zerolatency -g 30 -pix_fmt yuv420p -c:a aac -b:a 96k";
    const args = `-v error -nostdin ${media} ${codecs} -output_ts_offset ${startsAtSeconds} -muxdelay 0 -muxpreload 0 -f mpegts -`;
    const child = spawn(PROGRAM, args.split(" "), { stdio: ["ignore", "pipe", "inherit"] });
    this.#children.add(child);
    const end = leavesAfterSeconds && setTimeout(() => response.destroy(), leavesAfterSeconds * 1000);
    response.once("close", () => {
      this.open--;
      if (end) clearTimeout(end);
      child.kill("SIGKILL");
      this.#children.delete(child);
    });
    response.on("error", () => {});
    let strayAt = performance.now() + (straysEverySeconds ?? 0) * 1000;
    let rest: Buffer = Buffer.alloc(0);
    child.stdout.on("error", () => {});
    child.stdout.on("data", (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk]);
      const whole = rest.subarray(0, rest.length - (rest.length % PACKET));
      rest = rest.subarray(whole.length);
      for (let at = 0; at < whole.length && straysEverySeconds; at += PACKET) {
        if (performance.now() < strayAt || !stray(whole.subarray(at, at + PACKET))) continue;
        strayAt += straysEverySeconds * 1000;
        this.strays++;
      }
      response.write(whole);
    });
  }
}

/** Moves the picture that begins in this packet by 2^30 ticks, more than three hours (ISO/IEC 13818-1 2.4.3.7); false if none does. */
function stray(packet: Buffer): boolean {
  const begins = (packet.readUInt16BE(1) & 0x5fff) === (0x4000 | VIDEO_PID);
  const pes = packet.indexOf("000001e0", 4, "hex");
  if (!begins || pes < 0) return false;
  const flags = packet.readUInt8(pes + 7) >> 6;
  for (const at of flags === 3 ? [pes + 9, pes + 14] : [pes + 9]) packet.writeUInt8(packet.readUInt8(at) ^ 2, at);
  return true;
}
