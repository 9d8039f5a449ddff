/** Viewers in a process of their own, so that what they do delays nobody who measures. Exits with its parent. */
import { LiveViewers } from "./live-viewers.ts";
import { type Rewind, RewindViewers } from "./rewind-viewers.ts";

export type Watching =
  | { readonly kind: "live"; readonly hlsUrl: string; readonly count: number }
  | ({ readonly kind: "rewind"; readonly count: number } & Rewind);
export type Ask = "count" | "stop";
/** Requests answered so far; an error if a viewer failed. */
export type Told = { readonly requests: number } | { readonly error: string };

process.once("disconnect", () => process.exit(0));
process.once("message", async (watching: Watching) => {
  const viewers =
    watching.kind === "live"
      ? await LiveViewers.start(watching.hlsUrl, watching.count)
      : await RewindViewers.start(watching, watching.count);
  const tell = (told: Told) => process.send?.(told);
  process.on("message", async (ask: Ask) => {
    try {
      if (ask === "stop") await viewers.stop();
      tell({ requests: viewers.requests });
    } catch (error) {
      tell({ error: String(error) });
    }
  });
  tell({ requests: viewers.requests });
});
