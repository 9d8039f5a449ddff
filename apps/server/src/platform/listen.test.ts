import { createServer } from "node:net";
import { expect, test } from "vitest";
import { listen } from "./listen.ts";

test("a listener survives connections that cannot be accepted, and a port in use rejects", async () => {
  const server = createServer();
  const errors: string[] = [];
  await listen(server, { host: "127.0.0.1", port: 0 }, ({ message }) => errors.push(message));
  for (const message of ["accept ENFILE", "accept ENOMEM"]) server.emit("error", new Error(message));
  expect(errors).toEqual(["accept ENFILE", "accept ENOMEM"]);
  const address = server.address();
  const { port } = typeof address === "object" && address ? address : { port: 0 };
  await expect(listen(createServer(), { host: "127.0.0.1", port }, () => {})).rejects.toThrow("EADDRINUSE");
  await new Promise((resolve) => server.close(resolve));
});
