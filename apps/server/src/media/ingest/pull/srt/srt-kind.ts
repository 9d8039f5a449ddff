import { TsToPackets } from "../../ts/ts-to-packets.ts";
import type { SourceKind } from "../source-reader.ts";
import { srtSource } from "./srt-source.ts";

/** SRT listeners that send MPEG-TS. */
export const SRT: SourceKind<Uint8Array> = {
  open: ({ url }, opening) => srtSource(url, opening),
  reader: (sink, settings) => new TsToPackets(sink, settings),
};
