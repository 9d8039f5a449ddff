import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { afterEach, beforeEach, expect, test } from "vitest";
import { RelayedPeers } from "./relayed-peers.ts";
import { iceCheck } from "./stun-check-rig.ts";
import { IceCheck } from "./stun-message.ts";
import { findUdpPort } from "./udp-test-port.ts";

const PASSWORD = "the-password-of-the-answer";
const answer = (ufrag: string, password = PASSWORD) => `v=0\r\na=ice-ufrag:${ufrag}\r\na=ice-pwd:${password}\r\n`;

interface Received {
  readonly message: Buffer;
  readonly port: number;
}

let sockets: Socket[];
let library: { socket: Socket; received: Received[] };
let port: number;
let peers: RelayedPeers;

beforeEach(async () => {
  sockets = [];
  library = await open();
  port = await findUdpPort();
  const libraryPort = library.socket.address().port;
  peers = new RelayedPeers({ port, bindAddress: "127.0.0.1", libraryPort });
  const end = peers.expect(answer("first"));
  const { socket } = await open();
  const arrived = () => {
    send(socket, iceCheck("first", PASSWORD, 5n));
    return library.received.length;
  };
  await expect.poll(arrived).toBeGreaterThan(0);
  end();
  library.received.length = 0;
});
afterEach(async () => {
  await peers.close();
  for (const socket of sockets) socket.close();
});

async function open(): Promise<{ socket: Socket; received: Received[] }> {
  const socket = createSocket("udp4");
  sockets.push(socket);
  const received: Received[] = [];
  socket.on("message", (message, from) => received.push({ message, port: from.port }));
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return { socket, received };
}

function send(from: Socket, message: Uint8Array, to = port): void {
  from.send(message, to, "127.0.0.1");
}

test("a relayed client's checks reach the library with another tiebreaker, and everything else as it is, both ways", async () => {
  peers.expect(answer("ours"));
  const client = await open();
  send(client.socket, iceCheck("ours", PASSWORD, 0n));
  await expect.poll(() => library.received.length).toBe(1);
  const [first] = library.received;
  expect(first?.message).toEqual(Buffer.from(iceCheck("ours", PASSWORD, 1n)));
  const media = Buffer.from("80600001 is media or DTLS");
  send(client.socket, media);
  await expect.poll(() => library.received[1]).toEqual({ message: media, port: first?.port });
  send(library.socket, media, first?.port);
  await expect.poll(() => client.received).toEqual([{ message: media, port }]);
  // Nobody but the library gets through to the client.
  const stranger = await open();
  send(stranger.socket, Buffer.from("from a stranger"), first?.port);
  send(library.socket, Buffer.from("more"), first?.port);
  await expect.poll(() => client.received.map(({ message }) => String(message))).toEqual([String(media), "more"]);
});

test("nothing gets through without the password of a connection that goes on", async () => {
  const end = peers.expect(answer("ours"));
  const [client, other] = [await open(), await open()];
  send(client.socket, Buffer.from("no check"));
  send(client.socket, iceCheck("ours", "another-password", 1n));
  send(client.socket, iceCheck("theirs", PASSWORD, 1n));
  send(client.socket, iceCheck("ours", PASSWORD, 5n));
  await expect.poll(() => library.received.length).toBe(1);
  expect(IceCheck.read(library.received[0]?.message ?? Buffer.alloc(0))?.isSignedWith(PASSWORD)).toBe(true);
  end();
  send(client.socket, Buffer.from("late"));
  send(client.socket, iceCheck("ours", PASSWORD, 5n));
  peers.expect(answer("next"));
  send(other.socket, iceCheck("next", PASSWORD, 5n));
  await expect.poll(() => library.received.length).toBe(2);
  expect(IceCheck.read(library.received[1]?.message ?? Buffer.alloc(0))?.askedUfrag).toBe("next");
});

test("one connection has four ways in at most, and takes none from others", async () => {
  peers.expect(answer("greedy"));
  peers.expect(answer("modest"));
  for (let n = 0; n < 6; n++) send((await open()).socket, iceCheck("greedy", PASSWORD, 5n));
  send((await open()).socket, iceCheck("modest", PASSWORD, 5n));
  const asked = () => library.received.map(({ message }) => IceCheck.read(message)?.askedUfrag).sort();
  await expect.poll(() => asked().at(-1)).toBe("modest");
  expect(asked()).toEqual(["greedy", "greedy", "greedy", "greedy", "modest"]);
});
