import type { FastifyInstance } from "fastify";
import { ApiError, NotFound } from "../api/index.ts";
import type { PlayableFinder } from "./playable-finder.ts";

export interface OembedDeps {
  readonly playables: Pick<PlayableFinder, "find">;
  /** The address that the operator has set, without a slash at its end. */
  publicUrl(): string;
}

interface Query {
  readonly url?: unknown;
  readonly format?: unknown;
  readonly maxwidth?: unknown;
  readonly maxheight?: unknown;
}

const WIDTH = 1280;
const HEIGHT = 720;
const THUMBNAIL = { thumbnail_width: 1280, thumbnail_height: 720 };
const MAX_URL = 2_000;
const CACHE_SECONDS = 300;

/**
 * `GET /oembed?url=…` (oembed.com): the player of a watch page's address, for sites that show one where such a link is posted. Reads the address and
 * fetches nothing. Gated, suspended and unknown videos get one answer.
 */
export function oembedRoutes(app: FastifyInstance, { playables, publicUrl }: OembedDeps): void {
  app.get("/oembed", { config: { auth: "none" } }, async (request, reply) => {
    const { url, format, maxwidth, maxheight } = request.query as Query;
    if (format !== undefined && format !== "json")
      throw new ApiError(501, "not-implemented", "oEmbed answers are JSON only: leave format out");
    const origin = publicUrl();
    const playbackId = typeof url === "string" && url.length <= MAX_URL ? playbackIdIn(url, origin) : null;
    const row = playbackId === null ? undefined : await playables.find(playbackId);
    const isOpen = row && !row.suspended && (row.policy?.type ?? "public") === "public";
    if (!isOpen) throw new NotFound(`url names no public video of ${origin}: use the address of its watch page`);
    const base = `${origin}${row.kind === "live" ? "" : "/asset"}/hls/${row.playback_id}`;
    const { width, height } = fitted(maxwidth, maxheight);
    reply.header("cache-control", `public, max-age=${CACHE_SECONDS}`);
    return {
      version: "1.0",
      type: "video",
      provider_name: "Weir",
      provider_url: origin,
      title: row.name,
      width,
      height,
      html: `<iframe src="${origin}/embed/${row.playback_id}" width="${width}" height="${height}" style="border: 0" allow="autoplay; fullscreen; picture-in-picture" allowfullscreen></iframe>`,
      thumbnail_url: `${base}/thumbnail.jpg?width=${THUMBNAIL.thumbnail_width}`,
      ...THUMBNAIL,
      cache_age: CACHE_SECONDS,
    };
  });
}

/** The playback id in the address of a watch page or an embedded player of this server; null in any other. */
export function playbackIdIn(url: string, origin: string): string | null {
  const asked = URL.parse(url);
  if (asked?.origin !== new URL(origin).origin) return null;
  return /^\/(?:watch|embed)\/([a-z0-9]{4,64})\/?$/.exec(asked.pathname)?.[1] ?? null;
}

/** The largest picture of 16 to 9 that an asking site has room for. */
function fitted(maxWidth: unknown, maxHeight: unknown): { width: number; height: number } {
  const scale = Math.min(1, (pixels(maxWidth) ?? WIDTH) / WIDTH, (pixels(maxHeight) ?? HEIGHT) / HEIGHT);
  return { width: Math.floor(WIDTH * scale), height: Math.floor(HEIGHT * scale) };
}

const pixels = (value: unknown): number | null =>
  typeof value === "string" && /^[1-9]\d{0,4}$/.test(value) ? Number(value) : null;
