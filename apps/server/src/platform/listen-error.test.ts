import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, test } from "vitest";
import { checkPort } from "./listen-error.ts";

test("a port in use is told by its setting, and a free one stays free", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await expect(checkPort("HTTP", "127.0.0.1", port, "WEIR_HTTP_PORT")).rejects.toThrow(
    `HTTP port ${port} on 127.0.0.1 is in use by another program: end it or set WEIR_HTTP_PORT`,
  );
  server.close();
  await once(server, "close");
  await checkPort("HTTP", "127.0.0.1", port, "WEIR_HTTP_PORT");
  await checkPort("HTTP", "127.0.0.1", port, "WEIR_HTTP_PORT");
});
