import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { MESSAGE, writeCommand, writeMessage } from "@weir/formats/rtmp";
import { afterEach, expect, test, vi } from "vitest";
import { systemClock } from "../../platform/clock.ts";
import { silentLog } from "../../platform/log.ts";
import { Outbound, type OutboundSettings } from "../../platform/outbound/outbound.ts";
import { PRIVATE_ADDRESS } from "../../platform/outbound/outbound-url.ts";
import { RtmpTestServer } from "../ingest/rtmp/rtmp-test-server.ts";
import type { SourcePacket } from "../packet.ts";
import { type SourceShape, syntheticSource } from "../testing/synthetic-source.ts";
import { CERTIFICATE, KEY } from "./certificate.fixture.ts";
import { RestreamRig, type RestreamRigSettings, TARGET } from "./restream-test-rig.ts";
import { Restreaming } from "./restreaming.ts";
import type { ConnectTarget } from "./target-connection.ts";

const opened: AsyncDisposableStack[] = [];
/** How often a target accepted the stream. */
let joined = 0;
afterEach(async () => {
  joined = 0;
  for (const stack of opened.splice(0)) await stack.disposeAsync();
});

/** A session's targets with real connections. */
function forwarding(outbound: Partial<OutboundSettings> = {}, settings: RestreamRigSettings = {}): RestreamRig {
  const restreaming = new Restreaming({
    clock: { ...systemClock, after: (ms, action) => rig.clock.after(ms, action) },
    log: silentLog,
    outbound: new Outbound({
      clock: systemClock,
      allowPrivate: true,
      own: () => ({ ports: [], publicUrl: "http://weir.test" }),
      ...outbound,
    }),
    srt: { connect: () => expect.unreachable("these targets speak RTMP") },
  });
  const connect: ConnectTarget = (url, handler) =>
    restreaming.connectFor("project")(url, {
      ready(format) {
        handler.ready(format);
        joined++;
      },
      failed: (failure) => handler.failed(failure),
    });
  const rig: RestreamRig = new RestreamRig({ connect, ...settings });
  opened.push(new AsyncDisposableStack());
  opened.at(-1)?.defer(() => rig.targets.end());
  return rig;
}

/** Lets both ends of a socket run for one event loop turn. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Checks without delay, because the awaited event happens between event loop turns. */
const until = (what: string, holds: () => unknown) =>
  vi.waitFor(() => expect(holds(), `waited in vain for ${what}`).toBeTruthy(), { timeout: 10_000, interval: 1 });

async function weir(port = 0): Promise<RtmpTestServer> {
  const server = await RtmpTestServer.start({ port });
  opened.push(new AsyncDisposableStack());
  opened.at(-1)?.use(server);
  return server;
}

const urlOf = (port: number, key = "Right-Key") => `rtmp://127.0.0.1:${port}/live/${key}`;

/** A server that treats each connection as the test says. */
async function behave(how: (socket: Socket) => void): Promise<number> {
  return listen(
    createServer((socket) => {
      socket.on("error", () => {});
      how(socket);
    }),
  );
}

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stack = new AsyncDisposableStack();
  stack.defer(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  opened.push(stack);
  const address = server.address();
  return address && typeof address === "object" ? address.port : 0;
}

const millisecondsOf = (packets: readonly SourcePacket[], kind: SourcePacket["kind"]) =>
  packets.filter((packet) => packet.kind === kind).map(({ dts, pts }) => [dts / 90, pts / 90] as const);

test("media at a target has the source's timestamps, with B-frames and after a reconnect of the source", async () => {
  const server = await weir();
  const rig = forwarding();
  rig.targets.set([{ ...TARGET, url: urlOf(server.port) }]);
  await until("the target to take it", () => joined === 1);
  const shape: SourceShape = { seconds: 3, bFrames: 2, frameRate: 25, clockAt: 100 };
  await rig.send(shape, undefined, turn);
  rig.timeline.pause();
  rig.pass(10_000);
  await rig.send({ ...shape, clockAt: 7 }, undefined, turn);
  rig.pass(200);
  await until("all to arrive", () => millisecondsOf(server.publication.packets, "video").length >= 149);

  const { tracks, packets } = server.publication;
  expect(tracks).toMatchObject([
    { codec: "avc", width: 640, height: 360 },
    { codec: "aac", sampleRate: 48_000, channels: 2 },
  ]);
  const source = syntheticSource(shape).map(({ packet }) => packet);
  const [video, audio] = [millisecondsOf(packets, "video"), millisecondsOf(packets, "audio")];
  const sent = millisecondsOf(source, "video");
  const offset = (video[0]?.[1] ?? 0) - (sent[0]?.[1] ?? 0);
  for (const [index, [dts, pts]] of sent.slice(0, 74).entries()) {
    expect(Math.abs((video[index]?.[0] ?? 0) - dts - offset)).toBeLessThanOrEqual(1);
    expect(Math.abs((video[index]?.[1] ?? 0) - pts - offset)).toBeLessThanOrEqual(1);
  }
  // The offset between audio and video equals the source's, before and after the reconnect.
  const lag = (list: readonly (readonly [number, number])[], from: number) =>
    list.find(([dts]) => dts >= from)?.[1] ?? 0;
  expect(Math.abs(lag(audio, 0) - (video[0]?.[1] ?? 0))).toBeLessThan(40);
  // No media existed for ten seconds, and timestamps continue where they stopped.
  for (const [before, after] of [video, audio].flatMap((list) =>
    list.slice(1).map((time, i) => [list[i], time] as const),
  ))
    expect((after?.[0] ?? 0) - (before?.[0] ?? 0)).toBeLessThan(200);
  expect(video.every(([dts], index) => index === 0 || dts > (video[index - 1]?.[0] ?? 0))).toBe(true);
});

test("a source without audio is sent with silence, and a video-only target gets no audio", async () => {
  const server = await weir();
  const rig = forwarding();
  rig.targets.set([{ ...TARGET, url: urlOf(server.port) }]);
  await until("the target to take it", () => joined === 1);
  await rig.send({ seconds: 3, audio: false }, undefined, turn);
  await until("sound", () => millisecondsOf(server.publication.packets, "audio").length > 100);
  const times = millisecondsOf(server.publication.packets, "audio").map(([dts]) => dts);
  expect(times.every((time, index) => index === 0 || Math.abs(time - (times[index - 1] ?? 0) - 21.33) < 1.1)).toBe(
    true,
  );

  rig.targets.set([{ ...TARGET, url: urlOf(server.port), videoOnly: true }]);
  await until("the target to take it again", () => joined === 2);
  await rig.send({ seconds: 2, clockAt: 3 }, undefined, turn);
  const [, again] = server.publications;
  await until("pictures", () => (again?.packets.length ?? 0) > 30);
  expect(again?.tracks.map(({ kind }) => kind)).toEqual(["video"]);
});

test("a target that is killed and comes back is online, pending and online again", async () => {
  const first = await weir();
  const rig = forwarding();
  const { port } = first;
  rig.targets.set([{ ...TARGET, url: urlOf(port) }]);
  await until("the target to take it", () => joined === 1);
  await rig.send({ seconds: 4 }, undefined, turn);
  expect(rig.state).toBe("online");
  await first[Symbol.asyncDispose]();
  await until("the loss", () => rig.state === "pending");
  rig.pass(1_000);
  await until("a refused connection", () => rig.targets.reports[0]?.reason?.includes("refused"));
  expect(rig.targets.reports).toMatchObject([{ reason: "The target cannot be reached: the connection was refused." }]);

  await weir(port);
  rig.pass(2_000);
  await until("another attempt", () => joined === 2);
  await rig.send({ seconds: 4, clockAt: 4 }, undefined, turn);
  expect(rig.changes).toEqual([
    "target-1 pending 1",
    "target-1 online (connected)",
    "target-1 pending 1 (error)",
    "target-1 pending 2",
    "target-1 online (connected)",
  ]);
});

test("a wrong key is reported in the target's own words, without the key", async () => {
  const server = await weir();
  const rig = forwarding();
  rig.targets.set([{ ...TARGET, url: urlOf(server.port, "wrong-secret-key") }]);
  await until("the refusal", () => rig.targets.reports[0]?.reason);
  const reason = rig.targets.reports[0]?.reason ?? "";
  expect(reason).toMatch(/^The target refused the stream: .*key/);
  expect(reason).not.toContain("wrong-secret-key");
});

/** Sends a server's response to `connect` after its part of the handshake, whatever the client sends. */
function shakeAndSay(socket: Socket, bytes: Uint8Array): void {
  socket.once("data", () => {
    const answer = new Uint8Array(1 + 2 * 1536);
    answer[0] = 3;
    socket.write(answer);
    socket.write(bytes);
  });
}

const redirect = writeMessage(
  {
    ...{ chunkStreamId: 3, typeId: MESSAGE.commandAmf0, timestamp: 0, streamId: 0 },
    payload: writeCommand("_error", 1, null, {
      code: "NetConnection.Connect.Rejected",
      ex: { code: 302, redirect: "rtmp://127.0.0.1:22/live" },
    }),
  },
  128,
);

test.each<[string, (socket: Socket) => void, string]>([
  ["answers garbage", (socket) => void socket.write("HTTP/1.1 400 Bad Request\r\n\r\n"), "does not speak RTMP."],
  [
    "shakes hands and answers garbage",
    (socket) => shakeAndSay(socket, new Uint8Array(64).fill(0xff)),
    "does not speak RTMP.",
  ],
  ["redirects", (socket) => shakeAndSay(socket, redirect), "it redirects to another address, which is not followed."],
  ["hangs up", (socket) => void socket.end(), "The target closed the connection."],
  [
    "resets",
    (socket) => void socket.resetAndDestroy(),
    "The target cannot be reached: the connection was reset before an answer came.",
  ],
  [
    "never stops talking",
    (socket) =>
      shakeAndSay(
        socket,
        Buffer.concat(
          Array.from({ length: 5_000 }, () =>
            writeMessage({ chunkStreamId: 4, typeId: 8, timestamp: 0, streamId: 1, payload: new Uint8Array(100) }, 128),
          ),
        ),
      ),
    "The target sends more data than an RTMP server should.",
  ],
])("a target that %s is retried, with a reason", async (_what, how, words) => {
  const rig = forwarding();
  rig.targets.set([{ ...TARGET, url: urlOf(await behave(how)) }]);
  await until("the failure", () => rig.targets.reports[0]?.reason);
  expect(rig.targets.reports).toMatchObject([{ state: "pending", reason: expect.stringContaining(words) }]);
});

test("a connection that is accepted without any response is dropped after 15 s", async () => {
  let connections = 0;
  const rig = forwarding();
  rig.targets.set([{ ...TARGET, url: urlOf(await behave(() => connections++)) }]);
  await until("the connection", () => connections === 1);
  rig.pass(14_900);
  expect(rig.targets.reports).toMatchObject([{ reason: null }]);
  rig.pass(200);
  expect(rig.targets.reports).toMatchObject([{ reason: "The target did not accept the stream within 15 s." }]);
});

test.each([
  ["rtmp://127.0.0.1:1935/live/some-key", {}, "it leads back to this server"],
  ["rtmp://localhost/live/some-key", { allowPrivate: false }, PRIVATE_ADDRESS],
  ["rtmp://10.0.0.1/live/some-key", { allowPrivate: false }, PRIVATE_ADDRESS],
  ["rtmp://target.example:6379/live/some-key", {}, "port 6379 is not allowed"],
  [
    "rtmp://inside.example/live/some-key",
    { allowPrivate: false, resolve: async () => ["8.8.8.8", "10.0.0.1"] },
    PRIVATE_ADDRESS,
  ],
  ["rtmp://target.example/live", {}, "it has no application or no stream key: rtmp://host/application/key"],
] as const)("%s is offline immediately, without a connection", async (url, settings, words) => {
  const own = () => ({ ports: [1935], publicUrl: "http://weir.test" });
  const rig = forwarding({ own, ...settings });
  rig.targets.set([{ ...TARGET, url }]);
  rig.pass(50);
  await until("the refusal", () => rig.state === "offline");
  expect(rig.targets.reports).toMatchObject([{ reason: `The stream cannot be sent to this address: ${words}.` }]);
});

test("a node has at most 200 target connections per project, and the next target waits", async () => {
  const connections: number[] = [];
  const port = await behave(() => connections.push(1));
  const rig = forwarding();
  rig.targets.set(Array.from({ length: 201 }, (_, index) => ({ ...TARGET, id: `target-${index}`, url: urlOf(port) })));
  rig.pass(50);
  await until("the connections", () => connections.length === 200);
  expect(rig.targets.reports.at(-1)?.reason).toBe(
    "This server has reached its limit of multistream connections (200 per project). Remove a target, or end a broadcast.",
  );
  rig.targets.set(rig.targets.reports.slice(1).map(({ target }) => ({ ...TARGET, ...target, url: urlOf(port) })));
  rig.pass(1_000);
  await until("the last one", () => connections.length === 201);
});

test("an unknown host is retried", async () => {
  const resolve = () => Promise.reject(Object.assign(new Error("x"), { code: "ENOTFOUND" }));
  const rig = forwarding({ resolve });
  rig.targets.set([{ ...TARGET, url: "rtmp://nowhere.example/live/some-key" }]);
  await until("the failure", () => rig.targets.reports[0]?.reason);
  expect(rig.targets.reports).toMatchObject([
    { state: "pending", reason: "The target cannot be reached: the host name is not known." },
  ]);
});

test("an RTMPS target is connected with TLS, and its certificate is verified", async () => {
  let clearText = "";
  const server = createTlsServer({ key: KEY, cert: CERTIFICATE }, (socket) =>
    socket
      .on("error", () => {})
      .on("data", (bytes) => {
        clearText ||= String(bytes.length);
      }),
  );
  const port = await listen(server);
  const url = `rtmps://target.example:${port}/live/some-key`;
  const resolve = async () => ["127.0.0.1"];

  const trusting = forwarding({ resolve, trusted: CERTIFICATE });
  trusting.targets.set([{ ...TARGET, url }]);
  await until("the handshake of RTMP", () => clearText);
  expect(clearText).toBe("1537");

  const careful = forwarding({ resolve });
  careful.targets.set([{ ...TARGET, url }]);
  await until("the failure", () => careful.targets.reports[0]?.reason);
  expect(careful.targets.reports).toMatchObject([
    { reason: "The target cannot be reached: the host's certificate is signed by nobody we trust." },
  ]);
});
