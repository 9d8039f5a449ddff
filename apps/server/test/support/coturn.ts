import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { expect } from "vitest";
import { makeTestFolder } from "../../src/platform/test-folder-rig.ts";
import { relayedPortAbove } from "../../src/roles/open-turn.ts";

const PAGE = new URL("../../../../docs/4-operate/turn.md", import.meta.url);
/** Addresses between this machine, the machine of the TURN server, and that of a viewer. */
const NET = {
  weir: "10.211.1.1",
  turn: "10.211.1.2",
  viewerToWeir: ["10.211.2.1", "10.211.2.2"],
  viewerToTurn: ["10.211.3.1", "10.211.3.2"],
} as const;
const IP: string = "ip";
export const SECRET = "secret-of-the-turn-test";

/** A block of *Viewers whose network blocks UDP*, with the addresses and the port of a test. */
export function documentedBlock(language: "conf" | "nft", webrtcPort: number): string {
  const [, block] = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "m").exec(readFileSync(PAGE, "utf8")) ?? [];
  if (!block) throw new Error(`the page about TURN has no ${language} block`);
  return block
    .replaceAll("203.0.113.5", NET.weir)
    .replaceAll("8189", String(webrtcPort))
    .replaceAll("8289", String(relayedPortAbove(webrtcPort)))
    .replaceAll("REPLACE_WITH_THE_SECRET", SECRET);
}

/** Network namespaces of a TURN server and of a viewer whose UDP is blocked. This machine, with Weir, is a neighbour of both. */
export class BlockedNetwork implements Disposable {
  readonly weirAddress = NET.weir;
  readonly turnUrl = `turn:${NET.turn}:3478?transport=tcp`;
  /** The same server as the viewer reaches it. */
  readonly turnUrlOfViewer = `turn:${NET.viewerToTurn[0]}:3478?transport=tcp`;
  readonly viewerAddress = NET.viewerToTurn[1];
  readonly #turn = `weir-turn-${process.pid}`;
  readonly #viewer = `weir-viewer-${process.pid}`;

  constructor() {
    try {
      for (const name of [this.#turn, this.#viewer]) run(IP, "netns", "add", name);
      this.#connect(null, this.#turn, "wt", [NET.weir, NET.turn]);
      this.#connect(null, this.#viewer, "wv", NET.viewerToWeir);
      this.#connect(this.#turn, this.#viewer, "wu", NET.viewerToTurn);
      // One address of Weir for both.
      run(IP, "-n", this.#viewer, "route", "add", NET.weir, "via", NET.viewerToWeir[0]);
      // coturn relays from the address that its client reached.
      run(IP, "route", "add", NET.viewerToTurn[0], "via", NET.turn);
      this.#load(
        this.#viewer,
        "table inet blocked { chain output { type filter hook output priority filter; oifname != lo meta l4proto udp drop; }; }",
      );
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  /** A program and arguments that run in the viewer's namespace. */
  get ofViewer(): readonly string[] {
    return ["ip", "netns", "exec", this.#viewer];
  }

  get ofTurn(): readonly string[] {
    return ["ip", "netns", "exec", this.#turn];
  }

  /** Rules of nft for the machine of the TURN server, in place of those before. */
  guardTurn(rules: string): void {
    this.#load(this.#turn, `flush ruleset\n${rules}`);
  }

  [Symbol.dispose](): void {
    // Their interfaces go with them.
    for (const name of [this.#turn, this.#viewer]) if (existsSync(`/run/netns/${name}`)) run(IP, "netns", "del", name);
  }

  #connect(from: string | null, to: string, name: string, [near, far]: readonly [string, string]): void {
    const [nearLink, farLink] = [`${name}a${process.pid}`, `${name}b${process.pid}`];
    run(IP, "link", "add", nearLink, "type", "veth", "peer", "name", farLink, "netns", to);
    if (from !== null) run(IP, "link", "set", nearLink, "netns", from);
    for (const [space, link, address] of [
      [from, nearLink, near],
      [to, farLink, far],
    ] as const) {
      const inSpace = space === null ? [] : ["-n", space];
      run(IP, ...inSpace, "address", "add", `${address}/30`, "dev", link);
      for (const each of [link, "lo"])
        if (space !== null || each !== "lo") run(IP, ...inSpace, "link", "set", each, "up");
    }
  }

  #load(space: string, rules: string): void {
    execFileSync(IP, ["netns", "exec", space, "nft", "-f", "-"], { input: rules });
  }
}

/** A program of the machine. */
const run = (program: string, ...args: string[]): void => void execFileSync(program, args);

/** Debian's coturn with a configuration, in a namespace. */
export class Coturn implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #folder: string;
  #said = "";

  private constructor(child: ChildProcess, folder: string) {
    this.#child = child;
    this.#folder = folder;
    for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => (this.#said += chunk));
  }

  static async start(network: BlockedNetwork, configuration: string): Promise<Coturn> {
    const folder = makeTestFolder("coturn");
    const file = join(folder, "turnserver.conf");
    writeFileSync(
      file,
      `${configuration}\nuserdb=${join(folder, "turndb")}\npidfile=${join(folder, "pid")}\nlog-file=stdout\n`,
    );
    const [program = "", ...args] = [...network.ofTurn, "turnserver", "-c", file];
    const coturn = new Coturn(spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] }), folder);
    try {
      await expect.poll(() => isOpen(NET.turn, 3478), { timeout: 10_000 }).toBe(true);
      return coturn;
    } catch (cause) {
      await coturn[Symbol.asyncDispose]();
      throw new Error(`coturn does not answer: ${coturn.#said}`, { cause });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const exited = new Promise((resolve) => this.#child.once("exit", resolve));
    this.#child.kill("SIGKILL");
    await exited;
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function isOpen(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const tell = (isConnected: boolean) => {
      socket.destroy();
      resolve(isConnected);
    };
    socket.once("connect", () => tell(true));
    socket.once("error", () => tell(false));
  });
}
