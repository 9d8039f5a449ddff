import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { OtherNodes } from "../../platform/cluster/index.ts";
import { TrustedProxies } from "../../platform/http/trusted-proxies.ts";
import { silentLog } from "../../platform/log.ts";
import { ManualClock } from "../../platform/manual-clock-rig.ts";
import { Secret } from "../../platform/secret.ts";
import { browserOffer } from "../testing/fake-peers.ts";
import { TurnCredentials } from "./turn-credentials.ts";
import { WebrtcEndpoint } from "./webrtc-endpoint.ts";
import type { OfferAnswer, OfferRefusal, OfferRequest } from "./webrtc-offer.ts";
import { ASKS_TOO_MUCH } from "./webrtc-protocol.ts";

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** An endpoint whose offers a test answers. */
async function open(turnUrls: readonly string[] | null = null) {
  const clock = new ManualClock(Date.UTC(2030, 0, 1));
  const turn = turnUrls && new TurnCredentials({ clock, urls: turnUrls, secret: new Secret("shared with coturn") });
  const asked: [party: string, request: OfferRequest][] = [];
  const closed: boolean[] = [];
  const ended = Promise.withResolvers<string>();
  const rig = {
    asked,
    clock,
    closed,
    ended,
    refusal: null as OfferRefusal | null,
    endedBy: null as OfferRefusal | null,
    url: "",
    send: (path: string, init: RequestInit = {}) => fetch(`${rig.url}${path}`, init),
    offer: (path: string, body: string, type = "application/sdp") =>
      fetch(`${rig.url}${path}`, { method: "POST", headers: { "content-type": type }, body }),
  };
  const taker = (party: string) => ({
    offer: async (request: OfferRequest): Promise<OfferAnswer | OfferRefusal> => {
      asked.push([party, request]);
      const close = (isWanted: boolean) => {
        closed.push(isWanted);
        ended.resolve("closed by its client");
      };
      const playhead = party === "watch" ? { playheadMs: 61_500 } : {};
      return rig.refusal ?? { sdp: "v=0\r\n", close, ended: ended.promise, refusal: () => rig.endedBy, ...playhead };
    },
  });
  const watch = { ...taker("watch"), refusalOf: async () => rig.refusal };
  const endpoint = new WebrtcEndpoint({
    ...{ clock, log: silentLog, proxies: new TrustedProxies([]), turn },
    ...{ prepare: () => {}, watch, publish: taker("publish"), stunPort: 3478, others: null },
  });
  const server = createServer((req, res) => endpoint.handle(req, res));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(
    () => server.closeAllConnections(),
    () => server.close(),
  );
  rig.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return rig;
}

describe("the WebRTC endpoint", () => {
  it("answers an offer with 201, a resource, a STUN link, and exposed headers", async () => {
    const rig = await open();
    const answer = await rig.offer("/webrtc/playback1?jwt=x", browserOffer("recvonly"));
    expect([answer.status, await answer.text()]).toEqual([201, "v=0\r\n"]);
    const header = (name: string) => answer.headers.get(name);
    expect(header("content-type")).toBe("application/sdp");
    expect(header("location")).toMatch(/^\/webrtc\/playback1\/[\w-]{22}$/);
    expect(header("link")).toBe('<stun:127.0.0.1:3478>; rel="ice-server"');
    expect(header("playhead-utc")).toBe("2030-01-01T00:00:00.000Z");
    expect(header("playhead-millis")).toBe("61500");
    expect(header("access-control-expose-headers")).toContain("Location");
    expect(rig.asked.map(([party, { name }]) => [party, name])).toEqual([["watch", "playback1"]]);
    const published = await rig.offer("/webrtc/Stream-Key", browserOffer("sendonly"));
    expect(published.headers.get("playhead-millis")).toBe(null);
    expect(rig.asked[1]?.[0]).toBe("publish");
  });

  it("ends a connection on DELETE of its resource, once, and of no other", async () => {
    const rig = await open();
    const location = (await rig.offer("/webrtc/playback1", browserOffer("recvonly"))).headers.get("location") ?? "";
    const ends = async (path: string) => (await rig.send(path, { method: "DELETE" })).status;
    expect(await ends(location.replace("playback1", "playback2"))).toBe(404);
    expect(await ends(`/webrtc/playback1/${"A".repeat(22)}`)).toBe(404);
    expect(rig.closed).toEqual([]);
    expect(await ends(location)).toBe(200);
    expect(await ends(location)).toBe(404);
    expect(rig.closed).toEqual([true]);
  });

  it.each([
    ["by the server, with the reason", { status: 409, sentence: "Another encoder took this stream over." }, 409],
    ["by the server, until it is back", { status: 503, sentence: "The server is shutting down." }, 503],
    ["otherwise", null, 404],
  ] as const)("answers a waiting client at once when its connection is ended %s", async (_, endedBy, status) => {
    const rig = await open();
    const location = (await rig.offer("/webrtc/Stream-Key", browserOffer("sendonly"))).headers.get("location");
    const both = [1, 2].map(() => rig.send(`${location}/end`));
    // The second takes the place of the first, which bounds what a client may leave open.
    const first = await Promise.race(both.map((answer, index) => answer.then(({ status }) => ({ index, status }))));
    expect(first.status).toBe(204);
    rig.endedBy = endedBy;
    rig.ended.resolve("closed by the server");
    const answer = await both[1 - first.index];
    expect([answer?.status, await answer?.text()]).toEqual([
      status,
      endedBy?.sentence ?? "There is no such connection.",
    ]);
    expect((await rig.send(`${location}/end`)).status).toBe(404);
  });

  it("tells a client that waits for the end of its connection to ask again before a proxy gives up", async () => {
    const rig = await open();
    const location = (await rig.offer("/webrtc/Stream-Key", browserOffer("sendonly"))).headers.get("location");
    const other = location?.replace("Stream-Key", "Other-Key");
    expect((await rig.send(`${other}/end`)).status).toBe(404);
    expect((await rig.send(`${location}/end`, { method: "POST" })).status).toBe(405);
    let status: number | null = null;
    void rig.send(`${location}/end`).then((answer) => {
      status = answer.status;
    });
    await vi.waitUntil(() => {
      rig.clock.advance(25_000);
      return status !== null;
    });
    expect(status).toBe(204);
  });

  it("answers HEAD and preflights from any origin, and rejects other methods by name", async () => {
    const rig = await open();
    for (const method of ["HEAD", "OPTIONS"]) {
      const answer = await rig.send("/webrtc/playback1", { method });
      expect(answer.status).toBe(200);
      expect(answer.headers.get("access-control-allow-origin")).toBe("*");
      expect(answer.headers.get("access-control-allow-methods")).toContain("DELETE");
      expect(answer.headers.get("link")).toContain("stun:");
    }
    const refused = async (method: string, path: string) => {
      const answer = await rig.send(path, { method });
      return [answer.status, answer.headers.get("allow")];
    };
    expect(await refused("GET", "/webrtc/playback1")).toEqual([405, "POST, HEAD, OPTIONS"]);
    expect(await refused("PATCH", "/webrtc/playback1")).toEqual([405, "POST, HEAD, OPTIONS"]);
    expect(await refused("PATCH", `/webrtc/playback1/${"A".repeat(22)}`)).toEqual([405, "DELETE, HEAD, OPTIONS"]);
    expect(await refused("GET", "/webrtc/../x/y")).toEqual([404, null]);
  });

  it.each([
    ["10 MB", "a".repeat(10 * 1024 * 1024), 413, /larger than 64 KiB/],
    ["no SDP", '{"sdp":1}', 400, /not a valid SDP offer/],
    [
      "1,000 media sections",
      `${browserOffer("sendonly")}${"m=video 9 UDP/TLS/RTP/SAVPF 96\r\n".repeat(1000)}`,
      400,
      /at most 16/,
    ],
    ["simulcast", `${browserOffer("sendonly")}a=simulcast:send h;l\r\n`, 406, /turn simulcast off/],
    ["an MD5 fingerprint", browserOffer("recvonly").replace("sha-256", "md5"), 406, /SHA-256/],
    ["a setup role that does not exist", `${browserOffer("recvonly")}a=setup:xyz\r\n`, 400, /a=setup/],
    ["an ICE name of 1 character", browserOffer("recvonly").replace("ufrag:abcd", "ufrag:a"), 400, /4 to 256/],
    ["VP8 alone", browserOffer("recvonly").replace("H264", "VP8"), 406, /no H\.264/],
    [
      "TCP alone",
      `${browserOffer("sendonly")}a=candidate:1 1 tcp 1 192.0.2.1 9 typ host\r\n`,
      406,
      /TCP candidates only/,
    ],
  ])("refuses an offer of %s with a reason", async (_, body, status, words) => {
    const rig = await open();
    const answer = await rig.offer("/webrtc/Stream-Key", body).catch(() => null);
    // A client that is still sending may see the connection close first.
    if (!answer) return expect(status).toBe(413);
    expect([answer.status, await answer.text()]).toEqual([status, expect.stringMatching(words)]);
    expect(answer.headers.get("access-control-allow-origin")).toBe("*");
    expect(rig.asked).toEqual([]);
  });

  it("refuses offers without a name, of another content type, and those that the handler refuses", async () => {
    const rig = await open();
    expect((await rig.offer("/webrtc/", browserOffer("sendonly"))).status).toBe(401);
    expect((await rig.offer("/webrtc/a", browserOffer("sendonly"), "application/json")).status).toBe(415);
    rig.refusal = { status: 503, sentence: "Not now." };
    const answer = await rig.offer("/webrtc/a", browserOffer("sendonly"));
    expect([answer.status, await answer.text(), answer.headers.get("retry-after")]).toEqual([503, "Not now.", "2"]);
  });

  it("gives every refusal a request id in a header, so that bodies of unknown and gated ids stay the same bytes", async () => {
    const rig = await open();
    rig.refusal = { status: 403, sentence: "Not allowed." };
    const answers = await Promise.all([
      rig.send("/webrtc/../x/y"),
      rig.send("/webrtc/a"),
      rig.send(`/webrtc/a/${"A".repeat(22)}`, { method: "DELETE" }),
      rig.offer("/webrtc/", browserOffer("sendonly")),
      rig.offer("/webrtc/a", browserOffer("sendonly"), "application/json"),
      rig.offer("/webrtc/a", "{}"),
      rig.offer("/webrtc/a", browserOffer("recvonly")),
      rig.offer("/webrtc/b", browserOffer("recvonly")),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([404, 405, 404, 401, 415, 400, 403, 403]);
    const ids = answers.map(({ headers }) => headers.get("x-request-id"));
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{16}$/);
    expect(new Set(ids).size).toBe(ids.length);
    expect(answers[0]?.headers.get("access-control-expose-headers")).toContain("X-Request-Id");
  });

  it("accepts publishers when viewers use all slots, and accepts viewers again when one leaves", async () => {
    const rig = await open();
    const offers = async (direction: "sendonly" | "recvonly") =>
      (await rig.offer("/webrtc/playback1", browserOffer(direction))).status;
    for (let minutes = 0; minutes < 2; minutes++) {
      for (let viewers = 0; viewers < 250; viewers++) expect(await offers("recvonly")).toBe(201);
      rig.clock.advance(60_000);
    }
    expect(await offers("recvonly")).toBe(503);
    expect(await offers("sendonly")).toBe(201);
    rig.ended.resolve("left");
    expect(await offers("recvonly")).toBe(201);
  });

  it("makes a client whose viewers misuse their connections wait a minute to watch, but not to publish", async () => {
    const rig = await open();
    rig.ended.resolve(ASKS_TOO_MUCH);
    const watch = async () => (await rig.offer("/webrtc/playback1", browserOffer("recvonly"))).status;
    for (let misuses = 0; misuses < 5; misuses++) expect(await watch()).toBe(201);
    expect(await watch()).toBe(429);
    expect((await rig.offer("/webrtc/Stream-Key", browserOffer("sendonly"))).status).toBe(201);
    rig.clock.advance(60_000);
    expect(await watch()).toBe(201);
  });

  it("gives TURN servers, with credentials for ten minutes, to admitted clients alone", async () => {
    const [udp, tcp] = ["turn:turn.example.com:3478", "turn:turn.example.com:3478?transport=tcp"] as const;
    const rig = await open([udp, tcp]);
    const username = `${Date.UTC(2030, 0, 1) / 1000 + 600}:`;
    const asked = await rig.send("/webrtc/playback1/ice-servers?jwt=x");
    expect(asked.headers.get("cache-control")).toBe("no-store");
    expect(asked.headers.get("access-control-allow-origin")).toBe("*");
    const [server] = ((await asked.json()) as { iceServers: Record<string, string>[] }).iceServers;
    expect(server).toEqual({
      urls: [udp, tcp],
      username: expect.stringMatching(new RegExp(`^${username}[\\w-]{16}$`)),
      credential: createHmac("sha1", "shared with coturn")
        .update(server?.username ?? "")
        .digest("base64"),
    });
    const link = (await rig.offer("/webrtc/Stream-Key", browserOffer("sendonly"))).headers.get("link");
    const same = `rel="ice-server"; username="${server?.username}"; credential="${server?.credential}"; credential-type="password"`;
    expect(link).toBe(`<stun:127.0.0.1:3478>; rel="ice-server", <${udp}>; ${same}, <${tcp}>; ${same}`);

    const preflight = await rig.send("/webrtc/playback1", { method: "OPTIONS" });
    expect(preflight.headers.get("link")).toBe('<stun:127.0.0.1:3478>; rel="ice-server"');
    rig.refusal = { status: 403, sentence: "Not you." };
    for (const answer of [
      await rig.send("/webrtc/playback1/ice-servers"),
      await rig.offer("/webrtc/playback1", browserOffer("recvonly")),
    ])
      expect([answer.status, await answer.text(), answer.headers.get("link")]).toEqual([403, "Not you.", null]);
  });

  it("has no relays to give without TURN servers, and rate-limits who asks for them", async () => {
    const rig = await open();
    const ask = (method = "GET") => rig.send("/webrtc/playback1/ice-servers", { method });
    expect((await ask("DELETE")).status).toBe(405);
    for (let asked = 0; asked < 60; asked++) expect(await (await ask()).json()).toEqual({ iceServers: [] });
    expect((await ask()).status).toBe(429);
    rig.clock.advance(60_000);
    expect((await ask()).status).toBe(200);
  });

  it("rate-limits a client that sends too many offers", async () => {
    const rig = await open();
    rig.refusal = { status: 404, sentence: "Nothing." };
    for (let offers = 0; offers < 300; offers++) await rig.offer("/webrtc/a", browserOffer("recvonly"));
    expect((await rig.offer("/webrtc/a", browserOffer("recvonly"))).status).toBe(429);
  });
});

it("a connection of another node: unknown where there is no such node, and for now where it does not answer", async () => {
  for (const [outcome, status] of [
    ["unknown", 404],
    ["failed", 503],
    ["full", 503],
  ] as const) {
    const others = { self: "here", sendTo: async () => outcome } as unknown as OtherNodes;
    const taker = { offer: () => Promise.reject(new Error("unused")) };
    const parts = {
      clock: new ManualClock(),
      log: silentLog,
      proxies: new TrustedProxies([]),
      prepare: () => {},
      stunPort: null,
      turn: null,
    };
    const endpoint = new WebrtcEndpoint({
      ...parts,
      watch: { ...taker, refusalOf: async () => null },
      publish: taker,
      others,
    });
    const server = createServer((req, res) => endpoint.handle(req, res));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/webrtc/abcd1234/${"r".repeat(22)}.there`;
    expect((await fetch(url, { method: "DELETE" })).status).toBe(status);
    server.closeAllConnections();
    server.close();
  }
});
