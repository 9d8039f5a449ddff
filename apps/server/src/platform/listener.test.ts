import { createServer } from "node:net";
import { expect, test } from "vitest";
import { Listener } from "./listener.ts";

test("a listener survives connections that cannot be accepted", async () => {
  const server = createServer();
  const errors: string[] = [];
  const listener = new Listener("RTMP", "127.0.0.1", 0);
  await listener.open(server, ({ message }) => errors.push(message));
  for (const message of ["accept ENFILE", "accept ENOMEM"]) server.emit("error", new Error(message));
  expect(errors).toEqual(["accept ENFILE", "accept ENOMEM"]);
  await new Promise((resolve) => server.close(resolve));
});

test("a port in use is told by its setting, and a free one stays free", async () => {
  const server = createServer();
  const first = new Listener("HTTP", "127.0.0.1", 0);
  await first.open(server, () => {});
  const second = new Listener("HTTP", "127.0.0.1", first.port);
  const reason = `HTTP port ${first.port} on 127.0.0.1 is in use by another program: end it or set WEIR_HTTP_PORT`;
  await expect(second.check()).rejects.toThrow(reason);
  await expect(second.open(createServer(), () => {})).rejects.toThrow(reason);
  await new Promise((resolve) => server.close(resolve));
  await second.check();
  await second.check();
});

test("a UDP port in use is told by its setting, and is free again once it is closed", async () => {
  const first = new Listener("STUN UDP", "127.0.0.1", 0);
  const socket = await first.openUdp();
  const second = new Listener("WebRTC UDP", "127.0.0.1", first.port);
  await expect(second.openUdp()).rejects.toThrow(
    `WebRTC UDP port ${first.port} on 127.0.0.1 is in use by another program: end it or set WEIR_WEBRTC_PORT`,
  );
  await new Promise<void>((resolve) => socket.close(resolve));
  (await second.openUdp()).close();
});

test.each([
  ["WebRTC UDP", "EADDRINUSE", "set WEIR_WEBRTC_PORT"],
  ["RTMP", "EACCES", "set WEIR_RTMP_PORT to 1024 or more"],
  ["RTMP", "EADDRNOTAVAIL", "set WEIR_HOST"],
  ["metrics", "EADDRNOTAVAIL", "set WEIR_METRICS_HOST"],
] as const)("%s that fails with %s says to %s", (name, code, remedy) => {
  const { message } = new Listener(name, "192.0.2.1", 80).explain(Object.assign(new Error(), { code }));
  expect(message).toMatch(new RegExp(`${remedy}$`));
});
