/**
 * Baseline for delivery: a bare Node server that sends bodies from memory. Receives them over the IPC channel, reports its port, exits with its
 * parent.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface FloorBodies {
  readonly playlist: string;
  /** Base64. */
  readonly segment: string;
}

process.once("disconnect", () => process.exit(0));
process.once("message", (bodies: FloorBodies) => {
  const playlist = Buffer.from(bodies.playlist);
  const segment = Buffer.from(bodies.segment, "base64");
  const server = createServer((request, response) => {
    const [type, body] =
      request.url === "/segment" ? ["video/mp4", segment] : ["application/vnd.apple.mpegurl", playlist];
    response.writeHead(200, ["content-type", String(type), "content-length", String(body.length)]);
    response.end(body);
  });
  server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
});
