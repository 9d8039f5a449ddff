import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { MediaRig, until } from "../../testing/media-rig.ts";

const LIVE = "/hls/playstream1";
const SOURCE = `${LIVE}/s/-/session-1/source`;

let rig: MediaRig;
beforeEach(async () => {
  rig = await MediaRig.open();
  rig.publishGate.nextStart = { record: true, dvrSeconds: 86_400 };
});
afterEach(() => rig[Symbol.asyncDispose]());

const namesIn = (text: string) => text.match(/^d\d+\.m4s$/gm) ?? [];

/** Waits until the recorder has written what is closed, in both renditions. */
async function recorded(): Promise<void> {
  const last = /^(\d+)\.m4s$/gm;
  const list = await rig.text(`${SOURCE}/index.m3u8`);
  const msn = Number([...list.matchAll(last)].at(-1)?.[1]);
  const rows = () => rig.facts.of("segment-closed").flatMap((fact) => fact.recorded);
  await until(() => rows().some((row) => row.msn >= msn - 1), `segment ${msn - 1} in the recording`);
}

async function broadcast(seconds: number): Promise<ReturnType<MediaRig["publish"]>["publication"]> {
  const { publication } = rig.publish();
  await rig.send(publication, { seconds: 5 });
  await recorded();
  // In pieces, as the disk is slower than the clock of a test.
  for (let at = 5; at < seconds; at += 20) {
    await rig.send(publication, { seconds: Math.min(20, seconds - at), clockAt: at });
    await recorded();
  }
  return publication;
}

test("the playlists of ?dvr=1 go back to the first segment, whose bytes stay the same when they leave the memory", async () => {
  const publication = await broadcast(5);
  const early = await rig.bytes(`${SOURCE}/d1.m4s`);
  expect(early.subarray(4, 8).toString()).toMatch(/moof|styp/);
  await rig.send(publication, { seconds: 20, clockAt: 5 });
  await recorded();
  await rig.send(publication, { seconds: 40, clockAt: 25 });
  await recorded();
  const multivariant = await rig.text(`${LIVE}/index.m3u8?dvr=1`);
  expect(multivariant).toContain("s/-/session-1/audio/dvr.m3u8");
  // The live address tells players of going back, and leads nobody there.
  const live = await rig.text(`${LIVE}/index.m3u8`);
  expect(live).not.toContain("dvr.m3u8");
  const [, since] = /^#EXT-X-SESSION-DATA:DATA-ID="weir.dvr",VALUE="since=(\d+),seconds=86400"$/m.exec(live) ?? [];
  const [, first = ""] = /PROGRAM-DATE-TIME:(.+)/.exec(await rig.text(`${SOURCE}/dvr.m3u8`)) ?? [];
  expect(Number(since)).toBe(Date.parse(first));
  const list = await rig.text(`${SOURCE}/dvr.m3u8`);
  expect(namesIn(list)[0]).toBe("d1.m4s");
  expect(namesIn(list).length).toBeGreaterThan(28);
  expect(list).toContain("#EXT-X-MEDIA-SEQUENCE:1\n");
  expect((await rig.fetch(`${SOURCE}/1.m4s`)).status).toBe(404);
  expect((await rig.bytes(`${SOURCE}/d1.m4s`)).equals(early)).toBe(true);
  const range = await rig.fetch(`${SOURCE}/d1.m4s`, { headers: { range: "bytes=10-19" } });
  expect([range.status, Buffer.from(await range.arrayBuffer())]).toEqual([206, early.subarray(10, 20)]);
  const init = /MAP:URI="(.+)"/.exec(list)?.[1];
  expect((await rig.fetch(`${SOURCE}/${init}`)).status).toBe(200);
});

test("a reload waits for its part, and as a delta update has only what is new", async () => {
  const publication = await broadcast(65);
  const whole = await rig.text(`${SOURCE}/dvr.m3u8`);
  const next = /PRELOAD-HINT:TYPE=PART,URI="(\d+)\.(\d+)\.m4s"/.exec(whole);
  const query = `_HLS_msn=${next?.[1]}&_HLS_part=${next?.[2]}&_HLS_skip=YES`;
  const reload = rig.text(`${SOURCE}/dvr.m3u8?${query}`);
  await rig.send(publication, { seconds: 1, clockAt: 65 });
  const delta = await reload;
  expect(delta).toContain(`${next?.[0]}`.replace(/.*URI=/, "URI="));
  const skipped = Number(/SKIPPED-SEGMENTS=(\d+)/.exec(delta)?.[1]);
  expect(skipped + namesIn(delta).length).toBeGreaterThanOrEqual(namesIn(whole).length);
  expect(delta.length).toBeLessThan(whole.length);
  expect((await rig.fetch(`${SOURCE}/dvr.m3u8?_HLS_skip=no`)).status).toBe(400);
  expect((await rig.fetch(`${SOURCE}/dvr.m3u8?_HLS_skip=YES&_HLS_skip=YES`)).status).toBe(400);
  expect((await rig.fetch(`${SOURCE}/dvr.m3u8?_HLS_msn=999`)).status).toBe(400);
});

test("after the end the list is whole under the same address, also when the session is long forgotten", async () => {
  const publication = await broadcast(45);
  const before = namesIn(await rig.text(`${SOURCE}/dvr.m3u8`));
  publication.end("clean-stop", "the end");
  const ended = await until(async () => {
    const text = await rig.text(`${SOURCE}/dvr.m3u8?_HLS_skip=YES`);
    return text.includes("#EXT-X-ENDLIST") ? text : null;
  }, "the end of the list");
  expect(namesIn(ended).slice(0, before.length)).toEqual(before);
  await rig.plane.drain();
  const early = await rig.bytes(`${SOURCE}/d1.m4s`);
  rig.clock.advance(61_000);
  expect(await rig.text(`${SOURCE}/dvr.m3u8`)).toBe(ended);
  expect(await rig.text(`${LIVE}/index.m3u8?dvr=1`)).toContain("s/-/session-1/source/dvr.m3u8");
  expect((await rig.bytes(`${SOURCE}/d1.m4s`)).equals(early)).toBe(true);
  expect((await rig.fetch(`${SOURCE}/d9999.m4s`)).status).toBe(404);
  expect((await rig.fetch(`${LIVE}/s/-/session-2/source/dvr.m3u8`)).status).toBe(404);
});

test("after a kill the same session goes on, and everything before is still there", async () => {
  await broadcast(45);
  const before = namesIn(await rig.text(`${SOURCE}/dvr.m3u8`));
  const early = await rig.bytes(`${SOURCE}/d1.m4s`);
  await rig.restart();
  const nextMsn = 60;
  rig.publishGate.nextStart = {
    ...{ sessionId: "session-1", record: true, dvrSeconds: 86_400 },
    resume: {
      nextMsn,
      discontinuitySequence: 0,
      endTicks: 80 * 90_000,
      targetDuration: 4,
      neededTargetDuration: 4,
      sound: null,
    },
  };
  const { publication } = rig.publish();
  await rig.send(publication, { seconds: 5 });
  const list = await until(async () => {
    const text = await rig.text(`${SOURCE}/dvr.m3u8`);
    return text.includes(`d${nextMsn + 1}.m4s`) ? text : null;
  }, "the list of the resumed session");
  const names = namesIn(list);
  expect(list).toContain("#EXT-X-MEDIA-SEQUENCE:1\n");
  expect(names).toEqual(Array.from({ length: names.length }, (_, i) => `d${i + 1}.m4s`));
  expect(names.length).toBeGreaterThan(before.length);
  expect(list).toMatch(/#EXT-X-GAP\n#EXTINF:[\d.]+,\nd59\.m4s\n#EXT-X-DISCONTINUITY/);
  expect((await rig.bytes(`${SOURCE}/d1.m4s`)).equals(early)).toBe(true);
});

test("a slate is in the live list, and in lists that go back a gap, the same after a restart", async () => {
  const option = { sessionId: "session-1", record: true, dvrSeconds: 86_400, slate: "last-picture" } as const;
  rig.publishGate.nextStart = option;
  const publication = await broadcast(5);
  publication.end("source-lost", "the cable");
  rig.clock.advance(7_000);
  const live = await rig.text(`${SOURCE}/index.m3u8`);
  const open = Number(/PRELOAD-HINT:TYPE=PART,URI="(\d+)\./.exec(live)?.[1]);
  expect(open).toBeGreaterThan(5);
  const away = await rig.text(`${SOURCE}/dvr.m3u8`);
  expect(away).not.toContain("PRELOAD-HINT");
  expect(away).toMatch(/#EXT-X-GAP\n#EXTINF:2[.\d]+,\nd5\.m4s/);
  expect((await rig.bytes(`${SOURCE}/5.m4s`)).byteLength).toBeGreaterThan(
    (await rig.bytes(`${SOURCE}/d5.m4s`)).byteLength,
  );
  // Where parts are asked for that lists which go back do not have, the answer waits for the segment.
  const reload = rig.text(`${SOURCE}/dvr.m3u8?_HLS_msn=${open}&_HLS_part=0`);
  rig.clock.advance(2_000);
  expect(await reload).toContain(`d${open}.m4s`);

  const again = rig.publish().publication;
  await rig.send(again, { seconds: 5, clockAt: 100 });
  await recorded();
  const gapsIn = (text: string) =>
    [...text.matchAll(/#EXT-X-GAP\n#EXTINF:([\d.]+),\nd(\d+)\.m4s/g)].map(([gap]) => gap);
  const back = await rig.text(`${SOURCE}/dvr.m3u8`);
  expect(gapsIn(back).length).toBeGreaterThanOrEqual(4);
  expect(back).not.toContain("DISCONTINUITY:");
  expect(back).not.toContain("#EXT-X-DISCONTINUITY\n");
  await rig.restart();
  rig.publishGate.nextStart = {
    ...option,
    resume: {
      nextMsn: 40,
      discontinuitySequence: 0,
      endTicks: 80 * 90_000,
      targetDuration: 2,
      neededTargetDuration: 2,
      sound: null,
    },
  };
  await rig.send(rig.publish().publication, { seconds: 5 });
  const resumed = await until(async () => {
    const text = await rig.text(`${SOURCE}/dvr.m3u8`);
    return text.includes("d41.m4s") ? text : null;
  }, "the list of the resumed session");
  expect(gapsIn(resumed).slice(0, gapsIn(back).length)).toEqual(gapsIn(back));
});

test("a recording that ends with its slate does not end in gaps", async () => {
  rig.publishGate.nextStart = { record: true, dvrSeconds: 86_400, slate: "last-picture" };
  const publication = await broadcast(5);
  publication.end("source-lost", "the cable");
  rig.clock.advance(7_000);
  await rig.plane.drain();
  const rows = rig.facts.of("segment-closed").flatMap((fact) => fact.recorded);
  expect(rows.filter(({ gap }) => gap)).toEqual([]);
});

test("a stream without the option is live alone", async () => {
  rig.publishGate.nextStart = { record: true };
  const { publication } = rig.publish();
  await rig.send(publication, { seconds: 5 });
  expect(await rig.text(`${LIVE}/index.m3u8?dvr=1`)).toContain("source/index.m3u8");
  expect((await rig.fetch(`${SOURCE}/dvr.m3u8`)).status).toBe(404);
  expect((await rig.fetch(`${SOURCE}/d1.m4s`)).status).toBe(404);
});

test("the list comes compressed for those who take it", async () => {
  await broadcast(25);
  const answer = await rig.fetch(`${SOURCE}/dvr.m3u8`, { headers: { "accept-encoding": "br;q=1, gzip" } });
  expect(answer.headers.get("content-encoding")).toBe("gzip");
  expect(namesIn(await answer.text()).length).toBeGreaterThan(8);
});

test("while the object store is away, what it does not have comes from the spool; many who ask at once cost one read", async () => {
  const away = () => Promise.reject(new Error("503 Slow Down"));
  Object.assign(rig.store, { put: away, putFile: away, read: away, fill: away });
  await broadcast(65);
  const text = await rig.text(`${SOURCE}/dvr.m3u8`);
  expect((await rig.fetch(`${SOURCE}/1.m4s`)).status).toBe(404);
  const answers = await Promise.all(Array.from({ length: 50 }, () => rig.bytes(`${SOURCE}/d1.m4s`)));
  const [first] = answers;
  expect(first?.subarray(4, 8).toString()).toBe("moof");
  expect(answers.every((bytes) => first?.equals(bytes))).toBe(true);
  const init = /MAP:URI="(.+)"/.exec(text)?.[1];
  expect((await rig.fetch(`${SOURCE}/${init}`)).status).toBe(200);
});

test("one client's requests for old segments hold a bounded part of the memory, and others get theirs", async () => {
  const { publication } = rig.publish();
  await rig.send(publication, { seconds: 5, frameBytes: 30_000 });
  await recorded();
  await rig.send(publication, { seconds: 20, clockAt: 5, frameBytes: 30_000 });
  await recorded();
  await rig.send(publication, { seconds: 40, clockAt: 25 });
  const { length } = await until(async () => {
    const bytes = await rig.bytes(`${SOURCE}/d7.m4s`);
    return (await rig.fetch(`${SOURCE}/7.m4s`)).status === 404 ? bytes : null;
  }, "a segment that has left the memory");
  expect(length).toBeGreaterThan(1_700_000);
  const held = Promise.withResolvers<void>();
  const fill = rig.store.fill.bind(rig.store);
  rig.store.fill = async (...asked) => {
    await held.promise;
    return fill(...asked);
  };
  await until(() => rig.plane.figures.unsealedChapters === 0, "everything in the object store");
  const ask = async (client: string) => {
    const answer = await rig.fetch(`${SOURCE}/d6.m4s`, { headers: { "x-forwarded-for": client } });
    await answer.arrayBuffer();
    return answer.status;
  };
  const statuses: number[] = [];
  const greedy = Array.from({ length: 60 }, async () => statuses.push(await ask("203.0.113.9")));
  const served = Math.floor((64 * 1024 * 1024) / length);
  await until(() => statuses.length >= 60 - served, "refusals");
  expect(new Set(statuses)).toEqual(new Set([503]));
  const other = ask("203.0.113.10");
  held.resolve();
  expect(await other).toBe(200);
  await Promise.all(greedy);
  expect(statuses.filter((status) => status === 200)).toHaveLength(served);
});

test("viewers who leave while their segment is looked for take no place with them", async () => {
  const publication = await broadcast(25);
  publication.end("clean-stop", "FCUnpublish");
  await until(() => rig.plane.figures.unsealedChapters === 0, "everything in the object store");
  await rig.restart();
  const found = Promise.withResolvers<void>();
  const find = rig.catalogue.dvrRecording.bind(rig.catalogue);
  rig.catalogue.dvrRecording = async (...args) => {
    await found.promise;
    return find(...args);
  };
  const left: Promise<unknown>[] = [];
  const server = createServer((req, res) => {
    left.push(once(res, "close"));
    rig.plane.handleHttp(req, res);
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  // More than there are places.
  const asked = Array.from({ length: 101 }, () => request({ port, path: `${SOURCE}/d1.m4s` }));
  for (const one of asked) one.on("error", () => {}).end();
  await until(() => left.length === asked.length, "all requests");
  for (const one of asked) one.destroy();
  await Promise.all(left);
  found.resolve();
  await until(async () => (await rig.fetch(`${SOURCE}/d1.m4s`)).status === 200, "the segment", 5_000);
});

test("a viewer without the right to the stream gets nothing of what was, and nobody new after a revocation", async () => {
  await broadcast(25);
  expect((await rig.fetch(`${SOURCE}/d1.m4s`)).status).toBe(200);
  rig.playbackGate.policy = "jwt";
  rig.plane.accessChanged("all");
  const statuses = ["dvr.m3u8", "d1.m4s", "d2.m4s"].map(async (file) => (await rig.fetch(`${SOURCE}/${file}`)).status);
  expect(await Promise.all(statuses)).toEqual([401, 401, 401]);
  const headers = { "livepeer-jwt": "good" };
  const own = /^s\/.+\/source\/dvr\.m3u8$/m.exec(
    await (await rig.fetch(`${LIVE}/index.m3u8?dvr=1`, { headers })).text(),
  )?.[0];
  expect(own).not.toContain("s/-/");
  expect((await rig.fetch(`${LIVE}/${own}`)).status).toBe(200);
  rig.playbackGate.allowed.delete("good");
  rig.playbackGate.policy = "webhook";
  rig.plane.accessChanged("all");
  await until(async () => (await rig.fetch(`${LIVE}/${own}`)).status === 401, "the end of a viewer session");
});

test("while the recording of an ended session is not ready, viewers go on hours back; then they have it", async () => {
  rig.catalogue.areReady = false;
  const publication = await broadcast(45);
  const early = await rig.bytes(`${SOURCE}/d1.m4s`);
  publication.end("clean-stop", "the end");
  await rig.plane.drain();
  const ended = await until(async () => {
    const text = await rig.text(`${SOURCE}/dvr.m3u8`);
    return text.includes("#EXT-X-ENDLIST") ? text : null;
  }, "the end of the list");
  const pages = () => rig.plane.figures.pages.pagesInUse;
  expect(pages()).toBeGreaterThan(0);
  for (let minute = 0; minute < 20; minute++) {
    rig.clock.advance(60_000);
    await rig.bytes(`${SOURCE}/d2.m4s`);
  }
  // Also one that waits for the next segment, and asks far behind the end of the live window.
  for (const query of ["", "?_HLS_skip=YES", "?_HLS_msn=23&_HLS_part=1"])
    expect(await rig.text(`${SOURCE}/dvr.m3u8${query}`)).toBe(ended);
  expect((await rig.bytes(`${SOURCE}/d1.m4s`)).equals(early)).toBe(true);
  // Its live window costs no memory, and nobody joins at its edge.
  expect(pages()).toBe(0);
  expect((await rig.fetch(`${SOURCE}/index.m3u8`)).status).toBe(404);
  expect(await rig.text(`${LIVE}/index.m3u8?dvr=1`)).not.toContain("session-1");

  rig.catalogue.areReady = true;
  expect(await rig.text(`${LIVE}/index.m3u8?dvr=1`)).toContain("s/-/session-1/source/dvr.m3u8");
  rig.clock.advance(60_000);
  expect(await rig.text(`${SOURCE}/dvr.m3u8`)).toBe(ended);
  expect((await rig.bytes(`${SOURCE}/d1.m4s`)).equals(early)).toBe(true);
});
