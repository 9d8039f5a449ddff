import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "./weir-process.ts";

const FFMPEG = "/usr/bin/ffmpeg";
const FFPROBE = "/usr/bin/ffprobe";
const LIBRARIES = ["libsrt-gnutls.so.1.5", "libsrt-openssl.so.1.5", "libsrt.so.1.5"];
const FOLDERS = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib"];

/** Null if the system has libsrt, else what to install. */
export function missingLibsrt(): string | null {
  const hasLibrary = FOLDERS.some((folder) => LIBRARIES.some((name) => existsSync(join(folder, name))));
  return hasLibrary ? null : "there is no libsrt: install it (apt-get install libsrt1.5-gnutls)";
}

/** Null if libsrt and ffmpeg are installed, else what to install. */
export function missingForSrt(): string | null {
  return missingLibsrt() ?? (existsSync(FFMPEG) ? null : "there is no ffmpeg: install it (apt-get install ffmpeg)");
}

/** A packet of the broadcast; times in seconds. */
export interface ListenedPacket {
  readonly kind: string;
  readonly dts: number;
  readonly pts: number;
}

/** The distribution's ffmpeg, which receives and records one SRT broadcast after the other. */
export class SrtListener implements AsyncDisposable {
  readonly #folder: string;
  readonly port: number;
  readonly #passphrase: string;
  #child: ChildProcess | null = null;
  #recordings = 0;

  private constructor(folder: string, port: number, passphrase: string) {
    this.#folder = folder;
    this.port = port;
    this.#passphrase = passphrase;
  }

  static async start(passphrase: string): Promise<SrtListener> {
    const folder = await mkdtemp(join(tmpdir(), "weir-srt-listener-"));
    const listener = new SrtListener(folder, await freePort(), passphrase);
    listener.restart();
    return listener;
  }

  /** Listens for the next broadcast as soon as one ends, until killed. */
  restart(): void {
    const url = `srt://127.0.0.1:${this.port}?mode=listener&passphrase=${this.#passphrase}`;
    const recording = this.#path(++this.#recordings);
    const args = ["-nostdin", "-loglevel", "quiet", "-y", "-i", url, "-c", "copy", "-f", "mpegts", recording];
    const child = spawn(FFMPEG, args, { stdio: "ignore" });
    this.#child = child;
    child.once("exit", () => {
      if (this.#child === child) this.restart();
    });
  }

  /** Kills it without a clean shutdown. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await exited;
  }

  /** The packets of a broadcast, numbered from 1. */
  async packetsOf(recording: number): Promise<ListenedPacket[]> {
    const args = ["-v", "quiet", "-of", "json", "-show_packets", this.#path(recording)];
    const { stdout } = await promisify(execFile)(FFPROBE, args, { maxBuffer: 256 * 1024 * 1024 });
    const { packets } = JSON.parse(stdout) as { packets: Record<"codec_type" | "dts_time" | "pts_time", string>[] };
    return packets.map((packet) => ({
      kind: packet.codec_type,
      dts: Number(packet.dts_time),
      pts: Number(packet.pts_time),
    }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }

  #path(recording: number): string {
    return join(this.#folder, `${recording}.ts`);
  }
}
