import { type AddressInfo, createServer } from "node:net";
import { afterEach, expect, test } from "vitest";
import { silentLog } from "../../platform/log.ts";
import { ManualClock } from "../../platform/manual-clock-rig.ts";
import { Outbound, type OutboundSettings } from "../../platform/outbound/outbound.ts";
import { PRIVATE_ADDRESS } from "../../platform/outbound/outbound-url.ts";
import { SrtProcess } from "../srt/index.ts";
import { Restreaming } from "./restreaming.ts";
import type { TargetFailure } from "./target-connection.ts";

/** Target URLs with which customers could reach hosts through this server, and servers that try to harm it. */

const opened: AsyncDisposableStack[] = [];
afterEach(async () => {
  for (const stack of opened.splice(0)) await stack.disposeAsync();
});

const never = new Promise<never>(() => {});

/** Waits for an attempt to connect to fail, on a clock that `pass` advances. */
function attempt(url: string, settings: Partial<OutboundSettings> = {}) {
  const clock = new ManualClock();
  const resolve = (host: string) => Promise.reject(new Error(`somebody looked ${host} up`));
  const own = () => ({ ports: [1935, 8080], publicUrl: "https://weir.example" });
  const outbound = new Outbound({ clock, allowPrivate: false, own, resolve, ...settings });
  const restreaming = new Restreaming({
    clock,
    log: silentLog,
    outbound,
    srt: new SrtProcess({ clock, log: silentLog }),
  });
  const failed = Promise.withResolvers<TargetFailure>();
  const handler = { ready: () => failed.reject(new Error("the target took the stream")), failed: failed.resolve };
  const connection = restreaming.connectFor("project")(url, handler);
  const stack = new AsyncDisposableStack();
  stack.defer(() => connection.destroy());
  opened.push(stack);
  clock.advance(1);
  return { clock, failed: failed.promise };
}

const bothProtocols = (hosts: readonly string[]) =>
  hosts.flatMap((host) => [`rtmp://${host}:1936/live/some-key`, `srt://${host}:9000?streamid=some-key`]);

const CANNOT = "The stream cannot be sent to this address: ";

test.each(
  bothProtocols([
    ...["127.0.0.1", "[::1]", "0.0.0.0", "169.254.169.254", "10.0.0.1", "172.16.0.1", "192.168.0.1", "100.64.0.1"],
    ...["[fc00::1]", "[fe80::1]", "[::ffff:10.0.0.1]", "[64:ff9b::a00:1]", "localhost", "db.internal", "printer.local"],
  ]),
)("an internal address is refused: %s", async (url) => {
  const { reason, isTemporary } = await attempt(url).failed;
  expect(reason.startsWith(`${CANNOT}its host is `) || reason === `${CANNOT}${PRIVATE_ADDRESS}.`).toBe(true);
  expect(isTemporary).toBe(false);
});

test.each(bothProtocols(["2130706433", "0x7f.1", "017700000001", "127.1", "１２７.0.0.1", "live.example.com."]))(
  "an address in an unusual spelling is refused: %s",
  async (url) => expect((await attempt(url).failed).reason).toMatch(`${CANNOT}its host `),
);

test.each(bothProtocols(["two-faced.example"]))(
  "a name with an internal address record is refused: %s",
  async (url) => {
    const resolve = async () => ["8.8.8.8", "10.0.0.1"];
    const { reason, isTemporary } = await attempt(url, { resolve }).failed;
    expect(reason).toBe(`${CANNOT}${PRIVATE_ADDRESS}.`);
    expect(isTemporary).toBe(false);
  },
);

test.each([
  ["rtmp://some-user:some-word@10.0.0.1/live/some-key", PRIVATE_ADDRESS],
  ["rtmp://live.example.com@10.0.0.1/live/some-key", PRIVATE_ADDRESS],
  ["srt://live.example.com@127.0.0.1:9000", PRIVATE_ADDRESS],
  ...[22, 6379, 11434].flatMap((port) => [
    [`rtmp://live.example.com:${port}/live/some-key`, `port ${port} is not allowed`],
    [`srt://live.example.com:${port}`, `port ${port} is not allowed`],
  ]),
  ["rtmp://weir.example:8080/live/some-key", "it leads back to this server"],
  ["rtmps://weir.example/live/some-key", "it leads back to this server"],
  ["srt://weir.example:1935", "it leads back to this server"],
])("%s is refused, and the reason reveals only the port", async (url, words = "") => {
  const { reason } = await attempt(url).failed;
  expect(reason).toBe(`${CANNOT}${words}.`);
});

test.each([
  ["rtmp://127.0.0.1:1935/live/some-key"],
  ["rtmp://localhost:1935/live/some-key"],
  ["rtmp://alias.example:1935/live/some-key"],
  ["srt://127.0.0.1:8080"],
  ["srt://alias.example:8080"],
])("this server's own listener is refused even if private addresses are allowed, by any name: %s", async (url) => {
  const resolve = async () => ["127.0.0.1"];
  const { reason, isTemporary } = await attempt(url, { allowPrivate: true, resolve }).failed;
  expect(reason).toBe(`${CANNOT}it leads back to this server.`);
  expect(isTemporary).toBe(false);
});

test.each(bothProtocols(["nowhere.example"]))("an unknown name is retried: %s", async (url) => {
  const resolve = () => Promise.reject(Object.assign(new Error("x"), { code: "ENOTFOUND" }));
  const { reason, isTemporary } = await attempt(url, { resolve }).failed;
  expect(reason).toBe("The target cannot be reached: the host name is not known.");
  expect(isTemporary).toBe(true);
});

test.each(bothProtocols(["slow.example"]))("a name resolution without an answer ends after 15 s: %s", async (url) => {
  const { clock, failed } = attempt(url, { resolve: () => never });
  clock.advance(15_000);
  expect(await failed).toEqual({ reason: "The target did not accept the stream within 15 s.", isTemporary: true });
});

test("a server that responds byte by byte has 15 s in total", async () => {
  let bytes = 0;
  const server = createServer((socket) => {
    const timer = setInterval(() => socket.write(Buffer.of(bytes++ === 0 ? 3 : 0)), 5);
    socket.on("error", () => {}).on("close", () => clearInterval(timer));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stack = new AsyncDisposableStack();
  stack.defer(() => new Promise((resolve) => server.close(() => resolve())));
  opened.push(stack);
  const { port } = server.address() as AddressInfo;
  const { clock, failed } = attempt(`rtmp://127.0.0.1:${port}/live/some-key`, { allowPrivate: true });
  await expect.poll(() => bytes).toBeGreaterThan(10);
  clock.advance(15_000);
  expect(await failed).toEqual({ reason: "The target did not accept the stream within 15 s.", isTemporary: true });
});
