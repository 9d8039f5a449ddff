import type { FastifyReply, FastifyRequest } from "fastify";
import { codingFor } from "../../platform/http/content-coding.ts";
import type { SharedText } from "../../platform/http/shared-text.ts";

/** Send a text compressed, as far as the client takes that, and not again to those who have it. */
export async function sendShared(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  { text, type }: { readonly text: SharedText; readonly type: string },
) {
  const { bytes, etag, coding } = await text.in(codingFor(headers["accept-encoding"]));
  reply.headers({ "cache-control": "no-cache", vary: "Accept-Encoding", etag });
  if (headers["if-none-match"] === etag) return reply.code(304).send();
  if (coding !== null) reply.header("content-encoding", coding);
  return reply.type(`${type}; charset=utf-8`).send(bytes);
}
