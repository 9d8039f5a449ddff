import type { PlaybackPolicy } from "@weir/contract";
import type { FastifyInstance, FastifyReply } from "fastify";
import { withholdHeaders } from "../../platform/http/own-headers.ts";
import { originOf } from "../api/index.ts";
import type { PlayableFinder } from "./playable-finder.ts";
import type { PlayableRow } from "./playback-store.ts";

export interface WatchPageDeps {
  readonly playables: Pick<PlayableFinder, "find">;
  /** The built page: HTML with a `<title>`. */
  readonly template: string;
  /** Whether the server answers oEmbed. */
  readonly hasOembed?: boolean;
  /** Another origin that this server redirects media to; null without one. */
  readonly mediaOrigin: string | null;
}

const TITLE = "Video";
const IMAGE_WIDTH = 1280;
const ORIGIN = /^https?:\/\/[\w.:[\]-]+$/;

/**
 * `/watch/{playbackId}` and `/embed/{playbackId}`: a public player, as a page and for an `<iframe>`. The pages contain no media and decide
 * nothing: the player requests the playlist like any other, with the credential from the page's URL. Open Graph tags (ogp.me) make links show as
 * players where they are posted.
 */
export function watchPages(app: FastifyInstance, deps: WatchPageDeps): void {
  for (const kind of ["watch", "embed"] as const)
    app.get(`/${kind}/:playbackId`, { config: { auth: "none" } }, async (request, reply) => {
      const row = await deps.playables.find((request.params as { playbackId: string }).playbackId);
      setHeaders(reply, kind === "watch" ? "'none'" : ancestorsOf(row?.policy), deps.mediaOrigin);
      if (!row || row.suspended) return reply.code(404).send(pageOf(deps.template, TITLE, ""));
      const title = titleOf(row);
      const publicUrl = originOf(request);
      const oembed = deps.hasOembed && isPublic(row) ? oembedTag(row, publicUrl) : "";
      return reply.send(pageOf(deps.template, title, tagsOf(row, title, publicUrl) + oembed));
    });
}

/** Only viewers with access may see the name and picture of a gated video. */
const isPublic = ({ policy }: PlayableRow): boolean => (policy?.type ?? "public") === "public";

const titleOf = (row: PlayableRow): string => (isPublic(row) ? row.name : TITLE);

/** Null if there is none. */
function imageOf(row: PlayableRow, publicUrl: string): string | null {
  if (!isPublic(row)) return null;
  if (row.kind !== "live") return `${publicUrl}/asset/hls/${row.playback_id}/thumbnail.jpg?width=${IMAGE_WIDTH}`;
  return row.state === "live" ? `${publicUrl}/hls/${row.playback_id}/source/latest.jpg` : null;
}

/** Pages that may embed the player. An invalid origin would end the directive. */
function ancestorsOf(policy: PlaybackPolicy | null | undefined): string {
  const origins = policy?.allowedOrigins;
  if (!origins || origins.includes("*")) return "*";
  return ["'self'", ...origins.filter((origin) => ORIGIN.test(origin))].join(" ");
}

/** X-Frame-Options has no list of origins; `frame-ancestors` says the same and more. */
function setHeaders(reply: FastifyReply, frameAncestors: string, mediaOrigin: string | null): void {
  withholdHeaders(reply, ["x-frame-options", "cross-origin-opener-policy"]);
  reply.headers({
    "content-type": "text/html; charset=utf-8",
    // The tags contain the host that the request was sent to.
    "cache-control": "private, no-cache",
    // The page's URL may contain a credential.
    "referrer-policy": "strict-origin",
    "content-security-policy": [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self' 'unsafe-inline'",
      "img-src 'self' data:",
      `media-src 'self' blob: ${mediaOrigin ?? ""}`,
      `connect-src 'self' ${mediaOrigin ?? ""}`,
      "base-uri 'none'",
      "form-action 'none'",
      `frame-ancestors ${frameAncestors}`,
    ].join("; "),
  });
}

function tagsOf(row: PlayableRow, title: string, publicUrl: string): string {
  const embed = `${publicUrl}/embed/${row.playback_id}`;
  const tags = {
    "og:type": "video.other",
    "og:title": title,
    "og:url": `${publicUrl}/watch/${row.playback_id}`,
    "og:image": imageOf(row, publicUrl),
    "og:video:url": embed,
    "og:video:secure_url": embed.startsWith("https:") ? embed : null,
    "og:video:type": "text/html",
    "og:video:width": "1280",
    "og:video:height": "720",
    "twitter:card": "player",
    "twitter:title": title,
    "twitter:image": imageOf(row, publicUrl),
    "twitter:player": embed,
    "twitter:player:width": "1280",
    "twitter:player:height": "720",
  };
  return Object.entries(tags)
    .flatMap(([property, content]) =>
      content === null ? [] : [`<meta property="${property}" content="${escaped(content)}" />`],
    )
    .join("\n    ");
}

/** Tells sites where the page's player is described (oembed.com, discovery). */
function oembedTag(row: PlayableRow, publicUrl: string): string {
  const url = `${publicUrl}/oembed?${new URLSearchParams({ url: `${publicUrl}/watch/${row.playback_id}` })}`;
  return `\n    <link rel="alternate" type="application/json+oembed" href="${escaped(url)}" />`;
}

function pageOf(template: string, title: string, tags: string): string {
  // Uses functions, because a replacement text would interpret `$`.
  return template.replace(/<title>.*<\/title>/, () => `<title>${escaped(title)}</title>\n    ${tags}`);
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escaped = (text: string): string => text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? "");
