import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import { BINDING_REQUEST, BINDING_RESPONSE, IceCheck } from "./stun-message.ts";

/** A connection of the library. */
interface Expected {
  readonly password: string;
  /** Names of its flows. */
  readonly flows: Set<string>;
}

/** Between one address at a TURN server and the library. */
interface Flow {
  readonly socket: Socket;
  readonly expected: Expected;
  usedAt: number;
}

/** A client has a relayed address for each TURN server. */
const MAX_FLOWS_EACH = 4;
const MAX_FLOWS = 2_000;
/** A connection checks every few seconds whether it is wanted. */
const UNUSED_MS = 30_000;
const SWEEP_MS = 5_000;

export interface RelayedPeersSettings {
  /** The port that TURN servers send to. */
  readonly port: number;
  /** Null binds to all addresses. */
  readonly bindAddress: string | null;
  /** The library's port. */
  readonly libraryPort: number;
}

/**
 * The way from TURN servers to the ICE library. Chromium's checks through a TURN server over TCP have a tiebreaker of 0, which RFC 8445 allows, and libjuice
 * answers them with an error that ends the connection (libjuice issue 355). So relayed clients are told a port of this process, which writes another
 * tiebreaker into their checks and passes on everything else. Only those who know the password of a connection get through, as at the library's port.
 */
export class RelayedPeers {
  readonly #libraryPort: number;
  readonly #libraryAddress: string;
  readonly #socket: Socket;
  /** By user fragment. */
  readonly #expected = new Map<string, Expected>();
  readonly #flows = new Map<string, Flow>();
  readonly #timer: NodeJS.Timeout;

  constructor({ port, bindAddress, libraryPort }: RelayedPeersSettings) {
    this.#libraryPort = libraryPort;
    this.#libraryAddress = bindAddress ?? "127.0.0.1";
    this.#socket = createSocket(this.#libraryAddress.includes(":") ? "udp6" : "udp4");
    // Without this port, relayed clients do not connect; all others do.
    this.#socket.on("error", () => {});
    this.#socket.on("message", (message, from) => this.#receive(message, from));
    this.#socket.bind({ port, ...(bindAddress !== null && { address: bindAddress }), exclusive: true });
    this.#timer = setInterval(() => this.#sweep(), SWEEP_MS).unref();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    for (const name of this.#flows.keys()) this.#end(name);
    await new Promise<void>((resolve) => this.#socket.close(resolve));
  }

  /** Lets the checks of a connection through, whose own description this is. Returns what ends that. */
  expect(sdp: string): () => void {
    const found = (name: string) => new RegExp(`^a=${name}:(\\S+)`, "m").exec(sdp)?.[1];
    const [ufrag, password] = [found("ice-ufrag"), found("ice-pwd")];
    if (!ufrag || !password) return () => {};
    const expected: Expected = { password, flows: new Set() };
    this.#expected.set(ufrag, expected);
    return () => {
      this.#expected.delete(ufrag);
      for (const name of expected.flows) this.#end(name);
    };
  }

  #receive(message: Buffer, from: RemoteInfo): void {
    const name = `${from.address} ${from.port}`;
    const known = this.#flows.get(name);
    const check = IceCheck.read(message);
    if (check?.type !== BINDING_REQUEST) {
      if (known) this.#pass(known, message);
      return;
    }
    const expected = this.#expected.get(check.askedUfrag);
    if (!expected || !check.isSignedWith(expected.password)) return;
    const flow = known?.expected === expected ? known : this.#open(name, from, expected);
    if (!flow) return;
    check.avoidZeroTiebreaker();
    this.#pass(flow, check.bytes(expected.password));
  }

  #pass(flow: Flow, message: Uint8Array): void {
    flow.usedAt = performance.now();
    flow.socket.send(message, this.#libraryPort, this.#libraryAddress, () => {});
  }

  /** Null where there are too many. */
  #open(name: string, { address, port }: RemoteInfo, expected: Expected): Flow | null {
    this.#end(name);
    if (this.#flows.size >= MAX_FLOWS || expected.flows.size >= MAX_FLOWS_EACH) return null;
    const socket = createSocket(this.#libraryAddress.includes(":") ? "udp6" : "udp4");
    const flow: Flow = { socket, expected, usedAt: performance.now() };
    socket.on("error", () => this.#end(name));
    socket.on("message", (message, from) => {
      if (from.port !== this.#libraryPort || from.address !== this.#libraryAddress) return;
      flow.usedAt = performance.now();
      const check = IceCheck.read(message);
      if (check?.type === BINDING_RESPONSE) check.setMappedAddress(address, port);
      this.#socket.send(check?.bytes(expected.password) ?? message, port, address, () => {});
    });
    socket.bind(0, this.#libraryAddress);
    this.#flows.set(name, flow);
    expected.flows.add(name);
    return flow;
  }

  #end(name: string): void {
    const flow = this.#flows.get(name);
    if (!flow) return;
    flow.socket.close();
    flow.expected.flows.delete(name);
    this.#flows.delete(name);
  }

  #sweep(): void {
    const before = performance.now() - UNUSED_MS;
    for (const [name, { usedAt }] of this.#flows) if (usedAt < before) this.#end(name);
  }
}
