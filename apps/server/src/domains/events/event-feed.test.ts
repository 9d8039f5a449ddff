import { type AddressInfo, connect } from "node:net";
import type { Stream, StreamEvent } from "@weir/contract";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createApp } from "../../platform/http/app.ts";
import { silentLog } from "../../platform/log.ts";
import { Notifier } from "../../platform/notifier.ts";
import { startTestDomains, type TestDomains } from "../domain-test-kit.ts";
import { streamSubject } from "../subject.ts";
import { eventId } from "./event-id.ts";
import { EventLog } from "./event-log.ts";

/** Of this file's clock, which stands still unless a test moves it. */
const START = 1_700_000_000_000;

let kit: TestDomains;
let stream: Stream;
let url: string;
let stop: () => Promise<unknown>;
const log = new EventLog();

beforeAll(async () => {
  kit = await startTestDomains();
  const app = createApp({ log: silentLog, openPrefixes: [], ownOrigin: () => "http://weir.test" });
  await app.register((scope) => kit.domains.routes(scope));
  await app.listen({ port: 0, host: "127.0.0.1" });
  url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  stop = async () => {
    app.server.closeAllConnections();
    await app.close();
  };
});
afterAll(async () => {
  await stop();
  await kit[Symbol.asyncDispose]();
});
beforeEach(async () => {
  stream = (await kit.call("POST", "/api/stream", { name: "stage" })).json();
});

/** Append so many events, a second apart, and return their ids. */
async function append(count: number, at = kit.clock.now()): Promise<string[]> {
  const owner = { projectId: stream.projectId ?? "", userId: stream.userId ?? "" };
  const before = await log.head(kit.db, streamSubject(stream.id));
  const events = Array.from({ length: count }, (_, i) => ({
    subject: streamSubject(stream.id),
    owner,
    at: at + i * 1000,
    kind: i % 2 === 0 ? ("lifecycle" as const) : ("telemetry" as const),
    body: { type: "event_gap", dropped: i + 1 } as const,
  }));
  await kit.db.transaction().execute((trx) => log.append(trx, events));
  return events.map(({ at: time }, i) => eventId(streamSubject(stream.id), { at: time, seq: before + i + 1 }));
}

interface Feed extends AsyncDisposable {
  readonly response: Response;
  /** All of the body so far. */
  text(): string;
  ids(): string[];
  readonly ended: Promise<void>;
}

async function openFeed(query = "", headers: Record<string, string> = {}): Promise<Feed> {
  const abort = new AbortController();
  const response = await fetch(`${url}/data/stream/${stream.id}/events${query}`, {
    headers: { authorization: `Bearer ${kit.apiKey}`, ...headers },
    signal: abort.signal,
  });
  let text = "";
  const ended = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true });
  })();
  ended.catch(() => {});
  return {
    response,
    ended,
    text: () => text,
    ids: () => [...text.matchAll(/^id: (.*)$/gm)].map(([, id]) => id ?? ""),
    async [Symbol.asyncDispose]() {
      abort.abort();
      await ended.catch(() => {});
    },
  };
}

const get = (query: string, headers = {}) =>
  kit.call("GET", `/data/stream/${stream.id}/events${query}`, undefined, {
    authorization: `Bearer ${kit.apiKey}`,
    ...headers,
  });
const poll = async (query: string) => {
  const answer = await get(query, { accept: "application/json" });
  return answer.json<{ events: StreamEvent[]; gap?: true }>();
};

describe("server-sent events", () => {
  it("begin with retry; each event has its id, its name and one JSON object", async () => {
    const [id = ""] = await append(1);
    await using feed = await openFeed(`?from=${START - 1}`);
    await expect.poll(() => feed.ids()).toEqual([id]);
    const event = { type: "event_gap", id, timestamp: START, streamId: stream.id, v: 1, dropped: 1 };
    expect(feed.text()).toBe(`retry: 10000\n\nid: ${id}\nevent: service_event\ndata: ${JSON.stringify(event)}\n\n`);
    expect(Object.fromEntries(feed.response.headers)).toMatchObject({
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache, no-transform",
      "x-content-type-options": "nosniff",
      vary: "Authorization, Origin",
    });
  });

  it("are those after from, then the live ones, without one twice", async () => {
    const before = await append(3);
    await using feed = await openFeed(`?from=${START}`);
    await expect.poll(() => feed.ids()).toEqual(before.slice(1));
    const live = await append(2, START + 5000);
    await expect.poll(() => feed.ids()).toEqual([...before.slice(1), ...live]);
  });

  it("are the live ones alone without from, or with one that is to come", async () => {
    await append(3);
    await using now = await openFeed();
    await using later = await openFeed(`?from=${START + 60_000}`);
    await expect.poll(() => [now.text(), later.text()]).toEqual(["retry: 10000\n\n", "retry: 10000\n\n"]);
    await expect.poll(() => kit.domains.figures().feed.readers).toBe(2);
    const live = await append(2);
    await expect.poll(() => [now.ids(), later.ids()]).toEqual([live, live]);
  });

  it("with a to in the past are the range, its end included, and the end of the answer", async () => {
    const ids = await append(5, START - 60_000);
    const { body } = await get(`?from=${START - 60_000}&to=${START - 57_000}`);
    expect([...body.matchAll(/^id: (.*)$/gm)].map(([, id]) => id)).toEqual(ids.slice(1, 4));
  });

  it("with a to ahead go on until it is over", async () => {
    await using feed = await openFeed(`?from=${START - 1}&to=${START + 3000}`);
    await expect.poll(() => kit.domains.figures().feed.readers).toBe(1);
    const ids = await append(6);
    await expect.poll(() => feed.ids()).toEqual(ids.slice(0, 4));
    kit.clock.advance(5000);
    await feed.ended;
    kit.clock.stepWall(-5000);
  });

  it("are more than a page of the log, whole and in order", async () => {
    const ids = await append(730, START - 2_000_000);
    const { body } = await get(`?from=${START - 3_000_000}&to=${START - 10_000}`);
    expect([...body.matchAll(/^id: (.*)$/gm)].map(([, id]) => id)).toEqual(ids);
  });

  it("are kept alive by a comment every 20 s", async () => {
    await using feed = await openFeed();
    await expect.poll(() => kit.domains.figures().feed.readers).toBe(1);
    kit.clock.advance(20_000);
    kit.clock.stepWall(-20_000);
    await expect.poll(() => feed.text()).toBe("retry: 10000\n\n: ping\n\n");
  });

  it("come within a second from a process that died between its commit and the notification", async () => {
    await using feed = await openFeed();
    await expect.poll(() => kit.domains.figures().feed.readers).toBe(1);
    const lost = vi.spyOn(Notifier.prototype, "send").mockImplementation(() => {});
    const ids = await append(1);
    expect(lost).toHaveBeenCalledOnce();
    lost.mockRestore();
    expect(feed.ids()).toEqual([]);
    kit.clock.advance(1_000);
    kit.clock.stepWall(-1_000);
    await expect.poll(() => feed.ids()).toEqual(ids);
  });

  it("go to every reader of a stream, of which nothing is left when they have gone", async () => {
    const feeds = await Promise.all(Array.from({ length: 20 }, () => openFeed()));
    await expect.poll(() => kit.domains.figures().feed).toMatchObject({ readers: 20, subjects: 1 });
    const ids = await append(2);
    await expect.poll(() => feeds.map((feed) => feed.ids())).toEqual(feeds.map(() => ids));
    for (const feed of feeds) await feed[Symbol.asyncDispose]();
    await expect.poll(() => kit.domains.figures().feed).toMatchObject({ readers: 0, subjects: 0 });
  });

  it("come whatever order writers commit in: an event that was begun first and written last is not passed over", async () => {
    await using feed = await openFeed();
    await expect.poll(() => kit.domains.figures().feed.readers).toBe(1);
    const written = await Promise.all(Array.from({ length: 10 }, () => append(3)));
    await expect.poll(() => feed.ids()).toHaveLength(30);
    const kept = await log.since(kit.db, streamSubject(stream.id), 0, 100);
    expect(written.flat()).toHaveLength(30);
    expect(feed.ids()).toEqual(kept.map(({ event }) => event.id));
  });

  it("wait for a slow reader in bounded memory: it is closed, and has all of them when it comes back", async () => {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.on("error", () => {});
    socket.pause();
    socket.write(
      `GET /data/stream/${stream.id}/events HTTP/1.1\r\nHost: x\r\nAuthorization: ${kit.apiKey}\r\nAccept: */*\r\n\r\n`,
    );
    await expect.poll(() => kit.domains.figures().feed.readers).toBe(1);
    const { tooSlow } = kit.domains.figures().feed;
    const [first = ""] = await append(1);
    const owner = { projectId: stream.projectId ?? "", userId: stream.userId ?? "" };
    const body = { type: "webhook_event", event: "x", userId: "u", payload: { text: "x".repeat(1_000_000) } } as const;
    const large = { subject: streamSubject(stream.id), owner, at: START, kind: "lifecycle", body } as const;
    let sent = 0;
    while (kit.domains.figures().feed.tooSlow === tooSlow && sent < 40) {
      await kit.db.transaction().execute((trx) => log.append(trx, [large]));
      sent += 1;
    }
    expect(kit.domains.figures().feed).toMatchObject({ tooSlow: tooSlow + 1, readers: 0 });
    socket.destroy();
    await using feed = await openFeed(`?lastEventId=${first}`);
    await expect.poll(() => feed.ids(), { timeout: 10_000 }).toHaveLength(sent);
  });

  it("end within seconds for a key, and within a minute for a stream, that is deleted", async () => {
    const signedIn = await kit.call("POST", "/api/dashboard/sign-in", { apiKey: kit.apiKey }, {});
    const headers = { cookie: String(signedIn.headers["set-cookie"]).split(";")[0] ?? "", "x-weir-request": "1" };
    const made = await kit.call("POST", "/api/api-token", {}, headers);
    const { id, key } = made.json<{ id: string; key: string }>();
    await using ofKey = await openFeed("", { authorization: key });
    await using ofOwner = await openFeed();
    await expect.poll(() => kit.domains.figures().feed.readers).toBe(2);
    await kit.call("DELETE", `/api/api-token/${id}`, undefined, headers);
    kit.clock.advance(5_000);
    await ofKey.ended;
    expect(kit.domains.figures().feed.readers).toBe(1);
    await kit.call("DELETE", `/api/stream/${stream.id}`);
    kit.clock.advance(60_000);
    await ofOwner.ended;
    kit.clock.stepWall(-65_000);
  });

  it("until a time that is not over are cut and not ended, so that nobody takes them for all", async () => {
    await using feed = await openFeed(`?from=${START - 1}&to=${START + 120_000}`);
    await expect.poll(() => kit.domains.figures().feed.readers).toBe(1);
    await kit.call("DELETE", `/api/stream/${stream.id}`);
    kit.clock.advance(60_000);
    kit.clock.stepWall(-60_000);
    await expect(feed.ended).rejects.toThrow("terminated");
  });

  it("of a head request are its headers", async () => {
    const answer = await fetch(`${url}/data/stream/${stream.id}/events`, {
      method: "HEAD",
      headers: { authorization: kit.apiKey },
    });
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
  });
});

describe("a reader that resumes", () => {
  it.each(["header", "query"])("goes on behind the event that it names by %s", async (how) => {
    const ids = await append(4);
    const last = ids[1] ?? "";
    const ahead = `?from=${START - 5}`;
    await using feed =
      how === "query"
        ? await openFeed(`${ahead}&lastEventId=${last}`)
        : await openFeed(ahead, { "last-event-id": last });
    const live = await append(1);
    await expect.poll(() => feed.ids()).toEqual([...ids.slice(2), ...live]);
  });

  it("and stays within to", async () => {
    const ids = await append(6, START - 60_000);
    const { body } = await get(`?to=${START - 57_000}&lastEventId=${ids[1]}`);
    expect([...body.matchAll(/^id: (.*)$/gm)].map(([, id]) => id)).toEqual(ids.slice(2, 4));
  });

  describe("after an event that is not there", () => {
    const unknown: readonly (readonly [string, () => string])[] = [
      [
        "of another stream",
        () => eventId(streamSubject("2f1c0a52-9d0e-4f3a-8a3e-0c3f3f2d1b11"), { at: START, seq: 1 }),
      ],
      ["that never was", () => eventId(streamSubject(stream.id), { at: START, seq: 99 })],
      ["of no feed at all", () => "2f1c0a52-9d0e-4f3a-8a3e-0c3f3f2d1b11"],
    ];

    it.each(unknown)("%s is told of a gap and given the oldest kept", async (_what, id) => {
      const ids = await append(2);
      await using feed = await openFeed(`?lastEventId=${id()}`);
      await expect.poll(() => feed.ids()).toEqual(ids);
      expect(feed.text()).toMatch(/^retry: 10000\n\n: gap\n\nid: /);
      expect(await poll(`?lastEventId=${id()}`)).toMatchObject({ gap: true, events: [{ id: ids[0] }, { id: ids[1] }] });
    });

    it.each(unknown)("%s is 404 where it must be found", async (_what, id) => {
      const answer = await get(`?lastEventId=${id()}&mustFindLast=true`);
      expect([answer.statusCode, answer.json()]).toMatchObject([404, { errors: ["event not found"] }]);
    });
  });

  it("is told of a gap where telemetry after its last event is not kept any longer", async () => {
    const ids = await append(5);
    await sql`delete from event_telemetry where subject_id = ${stream.id} and seq = 2`.execute(kit.db);
    await using feed = await openFeed(`?lastEventId=${ids[0]}`);
    await expect.poll(() => feed.ids()).toEqual(ids.slice(2));
    expect(feed.text()).toContain("retry: 10000\n\n: gap\n\nid: ");
    const whole = await poll(`?lastEventId=${ids[2]}`);
    expect(whole).toEqual({ events: [expect.anything(), expect.anything()] });
  });

  it("after days that were dropped is told of the gap and given the oldest kept", async () => {
    const [old = ""] = await append(1, START - 500 * 86_400_000);
    const ids = await append(2);
    const day = new Date(START - 500 * 86_400_000).toISOString().slice(0, 10).replaceAll("-", "");
    for (const kind of ["lifecycle", "telemetry"])
      await sql`drop table ${sql.table(`event_${kind}_${day}`)}`.execute(kit.db);
    await using feed = await openFeed("", { "last-event-id": old });
    await expect.poll(() => feed.ids()).toEqual(ids);
    expect(feed.text()).toContain(": gap\n\n");
    expect((await get("?mustFindLast=true", { "last-event-id": old })).statusCode).toBe(404);
  });
});

describe("a request that makes no sense", () => {
  it.each([
    [`?to=${START}`, "to needs from"],
    [`?from=${START}&to=${START - 1}`, "from is after to"],
    ["?from=-1", "from must be a whole number"],
    [`?from=${START}.5`, "from must be a whole number"],
    ["?from=yesterday", "from must be a whole number"],
    ["?from=1700000000", "milliseconds expected"],
    [`?from=${START}&to=1700000000`, "milliseconds expected"],
    [`?from=${START}&from=${START}`, "from must be a whole number"],
    ["?lastEventId=17", "not the id of an event"],
    ["?pollMaxWaitSec=x", "pollMaxWaitSec must be a whole number"],
  ])("%s is 400", async (query, text) => {
    const answer = await get(query);
    expect(answer.statusCode).toBe(400);
    expect(answer.json<{ errors: string[] }>().errors[0]).toContain(text);
  });

  it("for a stream that is deleted or never was is 404", async () => {
    await kit.call("DELETE", `/api/stream/${stream.id}`);
    for (const id of [stream.id, "nothing", "00000000-0000-4000-8000-000000000000"])
      expect((await kit.call("GET", `/api/data/stream/${id}/events`)).statusCode).toBe(404);
  });
});

describe("JSON", () => {
  it("has what is there at once, and the rest after its last id", async () => {
    const ids = await append(3);
    const first = await poll(`?from=${START}`);
    expect(first.events.map(({ id }) => id)).toEqual(ids.slice(1));
    const more = await append(1);
    expect((await poll(`?lastEventId=${ids.at(-1)}`)).events.map(({ id }) => id)).toEqual(more);
  });

  it("waits for the next event, ten seconds unless told otherwise", async () => {
    const waiting = poll("");
    await expect.poll(() => kit.domains.figures().feed.readers).toBe(1);
    const ids = await append(1);
    expect((await waiting).events.map(({ id }) => id)).toEqual(ids);
    expect(await poll("?pollMaxWaitSec=0")).toEqual({ events: [] });
    const inVain = poll("");
    await expect.poll(() => kit.domains.figures().feed.readers).toBe(1);
    kit.clock.advance(10_000);
    kit.clock.stepWall(-10_000);
    expect(await inVain).toEqual({ events: [] });
  });
});

describe("a page of another origin", () => {
  const origin = "https://app.test";
  it("reads with a key, and never with the cookie", async () => {
    const past = `?from=${START - 9000}&to=${START - 8000}`;
    const answer = await get(past, { origin });
    expect([answer.statusCode, answer.headers["access-control-allow-origin"]]).toEqual([200, origin]);
    expect((await get(past, { origin, authorization: "wrong" })).statusCode).toBe(401);
    const signedIn = await kit.call("POST", "/api/dashboard/sign-in", { apiKey: kit.apiKey }, {});
    const cookie = String(signedIn.headers["set-cookie"]).split(";")[0] ?? "";
    const byCookie = (headers: Record<string, string>) =>
      kit.call("GET", `/data/stream/${stream.id}/events${past}`, undefined, { cookie, ...headers });
    expect((await byCookie({})).statusCode).toBe(200);
    expect((await byCookie({ origin })).statusCode).toBe(403);
  });
});
