import { rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { verifyWebhook } from "@weir/client";
import { afterAll, expect, test } from "vitest";
import { makeTestFolder } from "../src/platform/test-folder-rig.ts";
import { shareArena } from "./support/arena.ts";
import { environmentOf, runWeir, startWeir } from "./support/run-weir.ts";
import { startWebhookReceiver } from "./support/webhook-receiver.ts";

const arena = shareArena();
const home = makeTestFolder("cli");
afterAll(() => rmSync(home, { recursive: true }));

const weir = (...args: string[]) => runWeir(args, environmentOf(arena.weir, home));

test("a stream is created, shown, listed without its key, and deleted, by name and as JSON", async () => {
  const created = await weir("streams", "create", "cli stage", "--source-only", "--json");
  expect([created.code, created.err]).toEqual([0, ""]);
  const stream = JSON.parse(created.out) as { id: string; streamKey: string; profiles: unknown[] };
  expect(stream.profiles).toEqual([]);

  const shown = await weir("streams", "show", "cli stage");
  expect(shown.out).toContain(stream.id);
  expect(shown.out).not.toContain(stream.streamKey);
  expect((await weir("streams", "show", stream.id, "--key")).out).toContain(stream.streamKey);
  expect((await weir("streams", "list", "--name", "cli stage")).out).toMatch(
    new RegExp(`^ID .*NAME\n${stream.id}  idle .* cli stage\n$`),
  );
  expect((await weir("streams", "list", "--json")).out).not.toContain(stream.streamKey);
  expect(await weir("streams", "delete", "cli stage")).toMatchObject({ code: 0, out: "Deleted cli stage.\n" });
  expect((await weir("streams", "show", "cli stage")).code).toBe(5);
});

test("a login is checked, kept for its user alone, and its key is told to no other server", async () => {
  const folder = makeTestFolder("cli-login");
  try {
    const env = { XDG_CONFIG_HOME: folder };
    expect(await runWeir(["login", arena.weir.url], env, "wrong-key-of-a-test\n")).toMatchObject({ code: 4 });
    expect(await runWeir(["streams", "list"], env)).toMatchObject({
      code: 4,
      err: expect.stringContaining("weir login"),
    });
    const login = await runWeir(["login", arena.weir.url], env, `${arena.weir.apiKey}\n`);
    expect(login).toMatchObject({ code: 0, err: "" });
    expect(login.out).not.toContain(arena.weir.apiKey);
    expect(statSync(join(folder, "weir", "login.json")).mode & 0o777).toBe(0o600);
    expect((await runWeir(["streams", "list", "--json"], env)).code).toBe(0);
    const elsewhere = await runWeir(["streams", "list", "--server", "http://127.0.0.1:9"], env);
    expect(elsewhere).toMatchObject({ code: 4, err: expect.stringContaining("weir login http://127.0.0.1:9") });
    expect((await runWeir(["logout"], env)).code).toBe(0);
    expect((await runWeir(["streams", "list"], env)).code).toBe(4);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("exit codes tell wrong usage, an unreachable server and an unknown thing apart", async () => {
  expect((await weir("streams", "list", "--limit", "many")).code).toBe(2);
  expect((await weir("strems")).err).toContain("Did you mean streams?");
  expect((await weir("assets", "delete", "00000000-0000-4000-8000-000000000000")).code).toBe(5);
  const nobody = { WEIR_URL: "http://127.0.0.1:9", WEIR_API_KEY: "some-key-of-a-test" };
  const encrypted = { ...nobody, WEIR_URL: arena.weir.url.replace("http:", "https:") };
  expect(await runWeir(["streams", "list"], encrypted)).toMatchObject({
    code: 3,
    err: expect.stringContaining("http://"),
  });
  const unreachable = await runWeir(["streams", "list"], nobody);
  expect(unreachable).toMatchObject({ code: 3, out: "", err: expect.stringContaining("could not be reached") });
  expect((await weir("start", "--port", "9")).code).toBe(2);
});

test("a file is uploaded, broadcast to a stream, clipped, and its events are read", async () => {
  const { client } = arena.weir;
  const file = join(home, "video.flv");
  const { startPublisher } = await import("./support/publisher.ts");
  const made = await startPublisher({ url: file, seconds: 6, inRealTime: false });
  expect(await made.ended).toBeNull();

  const uploaded = await weir("assets", "upload", file, "--name", "cli upload", "--json");
  expect([uploaded.code, uploaded.err]).toEqual([0, ""]);
  const [asset] = JSON.parse(uploaded.out) as { id: string; playbackId: string; status: { phase: string } }[];
  expect(asset?.status.phase).toBe("ready");
  const clipped = await weir("clip", asset?.playbackId ?? "", "--from", "1", "--to", "0:03", "--json");
  expect(clipped.err).toBe("");
  const clip = JSON.parse(clipped.out) as { id: string; videoSpec: { duration: number } };
  expect(clip.videoSpec.duration).toBeCloseTo(2, 1);

  const stream = await client.streams.create({ name: "cli broadcast", profiles: [] });
  const env = environmentOf(arena.weir, home);
  const sending = startWeir(["broadcast", stream.id, file, "--seconds", "8", "--loop"], env);
  await expect.poll(async () => (await client.streams.get(stream.id)).status.state).toBe("live");
  expect(await sending.exited).toBe(0);
  expect(sending.err()).toContain(`/watch/${stream.playbackId}`);
  expect(sending.out()).toMatch(/^Sent [89] s\.\n$/);
  const tail = await weir(
    "events",
    "tail",
    "cli broadcast",
    "--since",
    "5m",
    "--no-follow",
    "--type",
    "stream_state",
    "--json",
  );
  const events = tail.out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string });
  expect(new Set(events.map(({ type }) => type))).toEqual(new Set(["stream_state"]));

  writeFileSync(join(home, "text.mp4"), "no video");
  expect(await weir("broadcast", stream.id, join(home, "text.mp4"))).toMatchObject({
    code: 1,
    err: expect.stringContaining("cannot read"),
  });
  for (const { id } of [asset, clip].flatMap((one) => one ?? [])) await client.assets.delete(id);
});

test("the server's test picture is live when the command says so", async () => {
  const { client } = arena.weir;
  const stream = await client.streams.create({ name: "cli test picture", profiles: [] });
  expect(await weir("broadcast", stream.id, "--seconds", "5")).toMatchObject({ code: 0, err: "" });
  expect((await client.streams.get(stream.id)).status.state).toBe("live");
});

test("keys are created, listed and deleted, and a read-only key only reads", async () => {
  const created = await weir("keys", "create", "cli key", "--read-only", "--json");
  expect([created.code, created.err]).toEqual([0, ""]);
  const { id, key } = JSON.parse(created.out) as { id: string; key: string };
  const listed = await weir("keys", "list");
  expect(listed.out).toContain(id);
  expect(listed.out).not.toContain(key);
  const env = { ...environmentOf(arena.weir, home), WEIR_API_KEY: key };
  expect((await runWeir(["streams", "list"], env)).code).toBe(0);
  expect((await runWeir(["streams", "create", "never"], env)).code).toBe(4);
  expect((await weir("keys", "delete", id)).code).toBe(0);
  expect((await runWeir(["streams", "list"], env)).code).toBe(4);
});

test("bash completes commands and options", async () => {
  const env = environmentOf(arena.weir, home);
  const complete = async (...words: string[]) =>
    (await runWeir(["complete", "--", ...words], env)).out.trim().split("\n");
  expect(await complete("str")).toEqual(["streams"]);
  expect(await complete("streams", "")).toContain("rotate-key");
  expect(await complete("streams", "list", "--l")).toEqual(["--live", "--limit"]);
  expect((await weir("completion", "bash")).out).toContain("complete -o default -F _weir weir");
});

test("events are forwarded, signed, to a receiver on this machine, and the webhook is gone when the command ends", async () => {
  const { client } = arena.weir;
  await using receiver = await startWebhookReceiver();
  const sharedSecret = "secret of the command line's test";
  const env = environmentOf(arena.weir, home);
  const args = ["--forward-to", receiver.url, "--events", "asset.created", "--secret", sharedSecret];
  const listening = startWeir(["webhooks", "listen", ...args], env);
  await expect.poll(listening.err).toContain("Listening to 1 events");
  const { asset } = await client.assets.requestUpload({ name: "cli webhook" });
  const ours = () => receiver.calls.find(({ body }) => (body.payload?.asset as { id?: string })?.id === asset.id);
  await expect.poll(ours).toBeDefined();
  const signed = { body: ours()?.text ?? "", signature: String(ours()?.headers["service-signature"]), sharedSecret };
  expect(await verifyWebhook(signed)).toMatchObject({ event: "asset.created" });
  listening.child.kill("SIGINT");
  expect(await listening.exited).toBe(0);
  expect(listening.out()).toMatch(/^asset\.created +200 /m);
  for await (const { name } of client.webhooks.each()) expect(name).not.toContain("listen");
  await client.assets.delete(asset.id);
});
