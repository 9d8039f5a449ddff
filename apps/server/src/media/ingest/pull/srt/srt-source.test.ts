import { expect, it } from "vitest";
import { systemClock } from "../../../../platform/clock.ts";
import { Outbound } from "../../../../platform/outbound/outbound.ts";
import type { SrtLinkHandler } from "../../../srt/index.ts";
import { srtSource } from "./srt-source.ts";

type Call = Parameters<Parameters<typeof srtSource>[1]["srt"]["connect"]>[0];

/** A library whose connections a test feeds. */
function rig(url: string, addresses: readonly string[] = ["192.168.20.7"]) {
  const calls: Call[] = [];
  const state = { handler: null as SrtLinkHandler | null, isClosed: false };
  const over = new AbortController();
  const outbound = new Outbound({
    ...{ clock: systemClock, allowPrivate: false, pullNetworks: ["192.168.20.0/24"] },
    own: () => ({ ports: [8890], publicUrl: "https://weir.example" }),
    resolve: async () => addresses,
  });
  const connect = (call: Call, handler: SrtLinkHandler) => {
    calls.push(call);
    state.handler = handler;
    const close = () => {
      state.isClosed = true;
    };
    return { send() {}, close };
  };
  const media = srtSource(url, { outbound, srt: { connect }, signal: over.signal });
  return { media, calls, state, over };
}

const connected = ({ state }: ReturnType<typeof rig>) => expect.poll(() => state.handler).not.toBeNull();

it("the address that was checked is called, with the stream id, passphrase and latency of the URL", async () => {
  const one = rig("srt://camera.example:9000?streamid=#!::r=a,m=request&passphrase=a0secret0word&latency=500");
  const first = one.media.next();
  await connected(one);
  expect(one.calls).toEqual([
    {
      ...{ address: "192.168.20.7", port: 9000, peer: "source" },
      ...{ streamId: "#!::r=a,m=request", passphrase: "a0secret0word", keyBytes: 0, latencyMs: 500 },
    },
  ]);
  one.state.handler?.media?.(Uint8Array.of(1));
  one.state.handler?.media?.(Uint8Array.of(2));
  expect([(await first).value, (await one.media.next()).value]).toEqual([Uint8Array.of(1), Uint8Array.of(2)]);
  const last = one.media.next();
  one.state.handler?.failed({ reason: "The source closed the connection.", isTemporary: true });
  await expect(last).rejects.toThrow("The source closed the connection.");
  expect(one.state.isClosed).toBe(true);
});

it.each([
  ["srt://camera.example:9000", ["10.0.0.9"], "WEIR_PULL_NETWORKS"],
  ["srt://camera.example:9000", ["192.168.20.7", "127.0.0.1"], "WEIR_PULL_NETWORKS"],
  ["srt://camera.example:9000", ["169.254.169.254"], "not called"],
  ["srt://weir.example:8890", ["192.168.20.7"], "leads back to this server"],
  ["srt://camera.example:9000", [], "cannot be reached"],
  ["srt://camera.example", ["192.168.20.7"], "no port"],
  ["srt://camera.example:9000?mode=listener", ["192.168.20.7"], "mode must be caller"],
  ["srt://camera.example:9000?passphrase=short", ["192.168.20.7"], "10 to 79 characters"],
])("%s at %s is refused with a sentence and not connected to", async (url, addresses, sentence) => {
  const one = rig(url, addresses);
  await expect(one.media.next()).rejects.toThrow(sentence);
  expect(one.calls).toEqual([]);
});

it("a source that sends faster than real time fills no memory", async () => {
  const one = rig("srt://camera.example:9000");
  const reading = (async () => {
    for await (const _piece of one.media);
  })();
  await connected(one);
  const piece = new Uint8Array(64 * 1024);
  for (let i = 0; i < 100; i++) one.state.handler?.media?.(piece);
  await expect(reading).rejects.toThrow("faster than real time");
  expect(one.state.isClosed).toBe(true);
});

it("a pull that is stopped closes its connection", async () => {
  const one = rig("srt://camera.example:9000");
  const first = one.media.next();
  await connected(one);
  one.over.abort(new Error("the pull is over"));
  await expect(first).rejects.toThrow("the pull is over");
  expect(one.state.isClosed).toBe(true);
});
