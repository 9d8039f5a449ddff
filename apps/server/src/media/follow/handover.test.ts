import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { ClusterSeal, ClusterServer, OtherNodes } from "../../platform/cluster/index.ts";
import { TrustedProxies } from "../../platform/http/trusted-proxies.ts";
import { Listener } from "../../platform/listener.ts";
import { silentLog } from "../../platform/log.ts";
import { ManualClock } from "../../platform/manual-clock-rig.ts";
import type { SessionStart, TimelinePosition } from "../../ports/index.ts";
import { roomForLadders } from "../testing/fake-gates.ts";
import { MediaRig } from "../testing/media-rig.ts";
import { FollowedSessions } from "./followed-sessions.ts";
import { Handover } from "./handover.ts";
import { windowFrame } from "./window-messages.ts";

const LIVE = "/hls/playstream1";
const COMPUTED = 43_222;

const clock = new ManualClock(Date.UTC(2030, 0, 1));

/** A media node that others reach. */
interface Node {
  readonly rig: MediaRig;
  readonly others: OtherNodes;
  readonly server: ClusterServer;
}

let a: Node;
let b: Node;

async function openNode(id: string): Promise<Node> {
  const seal = new ClusterSeal({ clock, nodeId: () => id, readKeys: async () => [Buffer.alloc(32, 1)] });
  await seal.open();
  const listener = new Listener("cluster", "127.0.0.1", 0);
  const proxies = new TrustedProxies([]);
  const server = await ClusterServer.open({ listener, seal, proxies, clock, log: silentLog });
  const self = { nodeId: () => id, address: () => `127.0.0.1:${listener.port}` };
  const lookUp = { findAddress: async () => null, findMedia: async () => [] };
  const others = new OtherNodes({ seal, ...self, ...lookUp, proxies, clock, log: silentLog });
  const rig = await MediaRig.open(roomForLadders(), others);
  server.serve({
    forwarded: (_req, res) => void res.writeHead(404, { "content-length": "0" }).end(),
    live: (url, res) => rig.plane.tellWindow(url, res),
    moved: (told, res) => rig.plane.handOver(told, res),
    sent: (told, res) => rig.plane.countSent(told, res),
    viewers: (told, res) => rig.plane.countViewers(told, res),
  });
  return { rig, others, server };
}

beforeEach(async () => {
  a = await openNode("a");
  b = await openNode("b");
});
afterEach(async () => {
  for (const { rig, others, server } of [a, b]) {
    await rig[Symbol.asyncDispose]();
    others.close();
    server.server.closeAllConnections();
    await server.close();
  }
});

const resume: TimelinePosition = {
  nextMsn: COMPUTED,
  discontinuitySequence: 0,
  endTicks: 1e7,
  targetDuration: 2,
  neededTargetDuration: 2,
  sound: null,
};

/** The encoder begins at `b`, where the database says what `a` had. */
async function moveToB(previousPlace = a.others.place, previousEpoch = 1) {
  b.rig.publishGate.nextStart = { sessionId: "session-1", previousEpoch, previousPlace, resume };
  b.rig.publishGate.grant();
  const { publication } = b.rig.publish();
  await b.rig.send(publication, { seconds: 0.2, clockAt: 7 });
  return publication;
}

const isHeldBy = ({ rig }: Node) => rig.plane.held().length === 1;
const numbersIn = (list: string) => [...list.matchAll(/^(\d+)\.m4s$/gm)].map(([, msn]) => Number(msn));
const count = (list: string, tag: string) => list.split(tag).length - 1;

test.each([
  { viewers: "at both nodes", isWatchedAtB: true },
  { viewers: "at the first alone", isWatchedAtB: false },
])(
  "a session goes on exactly where the node that had it is, with its window, and both nodes serve it: viewers $viewers",
  async ({ isWatchedAtB }) => {
    const { publication, publisher } = a.rig.publish();
    await a.rig.send(publication, { seconds: 7 });
    const nextMsn = 1 + Math.max(...numbersIn(await a.rig.text(await listAt(a))));
    b.others.moved("stream-1", a.others.place);
    if (isWatchedAtB) await listAt(b);
    const waiting = a.rig.text(`${await listAt(a)}?_HLS_msn=${nextMsn + 1}&_HLS_part=0`);

    const second = await moveToB();
    await expect.poll(() => isHeldBy(b)).toBe(true);
    expect(publisher.closedWith).toContain("Another encoder took this stream over.");
    expect(isHeldBy(a)).toBe(false);
    await b.rig.send(second, { seconds: 5, clockAt: 7.2 });
    a.rig.clock.advance(250);
    await expect.poll(async () => numbersIn(await a.rig.text(await listAt(a))).at(-1)).toBeGreaterThan(nextMsn + 1);
    // A blocked request of before goes on waiting at the same rendition.
    expect(numbersIn(await waiting)).toContain(nextMsn);
    const lists = await Promise.all([a, b].map(async (node) => node.rig.text(await listAt(node))));
    expect(lists[0]).toBe(lists[1]);
    const [list = ""] = lists;
    const numbers = numbersIn(list);
    expect(numbers).toEqual(numbers.map((_, index) => (numbers[0] ?? 0) + index));
    expect([numbers[0] ?? nextMsn, numbers.at(-1) ?? 0]).toEqual([
      expect.toSatisfy((first: number) => first < nextMsn),
      expect.toSatisfy((last: number) => last > nextMsn),
    ]);
    expect(count(list, "#EXT-X-DISCONTINUITY\n")).toBe(1);
    expect(count(list, "#EXT-X-ENDLIST")).toBe(0);
    for (const msn of numbers) {
      const [one, other] = await Promise.all(
        [a, b].map(async (node) => node.rig.bytes((await listAt(node)).replace("index.m3u8", `${msn}.m4s`))),
      );
      expect(one).toEqual(other);
    }
  },
);

const listAt = async ({ rig }: Node) => `${await rig.sourceOf(`${LIVE}/index.m3u8`)}/index.m3u8`;

test("a node that does not answer is waited for 400 ms; then the session goes on behind the computed gap, also in a copy of its window", async () => {
  const { publication } = a.rig.publish();
  await a.rig.send(publication, { seconds: 7 });
  b.others.moved("stream-1", a.others.place);
  const path = await listAt(b);
  const before = numbersIn(await b.rig.text(path));
  const waiting = b.rig.text(`${path}?_HLS_msn=${(before.at(-1) ?? 0) + 2}&_HLS_part=0`);
  const silent: Server = createServer(() => {});
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  const second = await moveToB({ nodeId: "a", address: `127.0.0.1:${(silent.address() as AddressInfo).port}` });
  expect(isHeldBy(b)).toBe(false);
  b.rig.clock.advance(150);
  // A request takes longer than a begin that has its answer.
  expect(numbersIn(await b.rig.text(path))).toEqual(before);
  expect(isHeldBy(b)).toBe(false);
  b.rig.clock.advance(250);
  await expect.poll(() => isHeldBy(b)).toBe(true);
  silent.closeAllConnections();
  silent.close();
  await b.rig.send(second, { seconds: 5, clockAt: 7.2 });
  expect(numbersIn(await waiting)).toContain(COMPUTED - 1);
  const list = await b.rig.text(path);
  expect(numbersIn(list).every((msn) => msn >= COMPUTED)).toBe(true);
  expect(list).toContain(`#EXT-X-MEDIA-SEQUENCE:${numbersIn(list)[0]}`);
});

const RUNG = { name: "180p", width: 320, height: 180, fps: 0, bitrate: 200_000 };

test.each([
  ["soon", false],
  ["after its next one", true],
] as const)(
  "an encoder goes to another node and comes back at once, and the ladder of before ends %s: nobody else writes a rung",
  async (_when, isSlow) => {
    /** Another publisher of the session, at `seconds` of the source. */
    const goOn = async (node: Node, start: Partial<SessionStart>, seconds: number) => {
      node.rig.publishGate.nextStart = { sessionId: "session-1", profiles: [RUNG], ...start };
      const { publication } = node.rig.publish();
      await node.rig.send(publication, { seconds: 0.2, clockAt: seconds });
      const tick = () => {
        if (!isHeldBy(node)) node.rig.clock.advance(25);
        return isHeldBy(node);
      };
      await expect.poll(tick, { interval: 10 }).toBe(true);
      return publication;
    };
    const first = await goOn(a, {}, 0);
    await a.rig.send(first, { seconds: 8.8, clockAt: 0.2 });
    if (isSlow) a.rig.children.current.mode = "hung";
    b.others.moved("stream-1", a.others.place);
    b.rig.publishGate.grant();
    await goOn(b, { previousEpoch: 1, previousPlace: a.others.place, resume }, 9);
    expect(isHeldBy(a)).toBe(false);
    for (let epochs = 0; epochs < 2; epochs++) a.rig.publishGate.grant();
    const back = { ...resume, nextMsn: 2 * COMPUTED };
    const third = await goOn(a, { previousEpoch: 2, previousPlace: b.others.place, resume: back }, 9.4);
    await a.rig.send(third, { seconds: 8, clockAt: 9.6 });
    const secondsIn = (list: string) =>
      [...list.matchAll(/EXTINF:([\d.]+),\n(\d+)\.m4s/g)].map(([, seconds, msn]) => `${msn}: ${seconds}`);
    const source = secondsIn(await a.rig.text(await listAt(a)));
    const rung = secondsIn(await a.rig.text(`${LIVE}/s/-/session-1/v0/index.m3u8`));
    const newest = source.slice(-3);
    expect(newest).toHaveLength(3);
    expect(rung.filter((line) => newest.includes(line))).toEqual(rung.slice(-newest.length));
    expect(rung.filter((line) => !source.includes(line))).toEqual([]);
  },
);

test("a node that had the session in another epoch says nothing of where it is", async () => {
  const { publication } = a.rig.publish();
  await a.rig.send(publication, { seconds: 7 });
  const second = await moveToB(a.others.place, 7);
  await expect.poll(() => isHeldBy(b)).toBe(true);
  await b.rig.send(second, { seconds: 3, clockAt: 7.2 });
  expect(numbersIn(await b.rig.text(await listAt(b))).every((msn) => msn >= COMPUTED - 1)).toBe(true);
});

test("what a node of another build leaves out of its position is as computed", async () => {
  const position = { nextMsn: 60 } as TimelinePosition;
  const older: Server = createServer((_req, res) => res.end(windowFrame({ kind: "position", position })));
  await new Promise<void>((resolve) => older.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void older.close());
  const address = `127.0.0.1:${(older.address() as AddressInfo).port}`;
  const copies = new FollowedSessions({
    ...{ clock, log: silentLog, others: b.others, takeLeft: () => null },
    memory: b.rig.plane.memory.parts,
  });
  const handover = new Handover({ clock, log: silentLog, others: b.others, copies });
  const grant = b.rig.publishGate.grant();
  const start = (await b.rig.publishGate.begin(grant)) as SessionStart;
  const begun = await handover.begin(grant, {
    ...{ ...start, resume, previousEpoch: 1 },
    previousPlace: { nodeId: "a", address },
  });
  copies.close();
  expect(begun.resume).toEqual({ ...resume, nextMsn: 60 });
});
