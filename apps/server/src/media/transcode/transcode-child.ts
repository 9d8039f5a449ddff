import { once } from "node:events";
import { Socket } from "node:net";
import { getPriority, setPriority } from "node:os";
import { systemClock } from "../../platform/clock.ts";
import { messageReader } from "../../platform/pipe-frames.ts";
import { openAudioEngine } from "./audio-child-engine.ts";
import { FatalTranscodeError, unexpected } from "./fatal-transcode-error.ts";
import { PreviewEngine } from "./preview-engine.ts";
import { isStill, stillEngine } from "./still-engine.ts";
import { TranscodeEngine } from "./transcode-child-engine.ts";
import { type Engine, type FromChild, frameOf, type ToChild } from "./transcode-protocol.ts";

/**
 * The process that transcodes one live track, of video or of audio, or makes stills or a preview. It is loaded and waits from its first moment, so one that was started ahead hides what
 * starting costs. It works off what the input pipe brings, one message at a time, and ends with that pipe.
 */

/** A third of a second at 120 frames a second. Above it, what comes stays in the pipe, where the parent sees it. */
const MAX_WAITING = 40;

/** Its parent replaces a child that makes no progress for some seconds while it has work. */
const PROGRESS_INTERVAL_MS = 200;

/** Ingest and delivery come first. */
const NICENESS = 5;
/** And so does every live stream that is transcoded, before a preview that anybody may ask for. */
const NICENESS_OF_PREVIEWS = 15;

giveWay(NICENESS);
const input = new Socket({ fd: 3, readable: true, writable: false });
const output = new Socket({ fd: 4, readable: false, writable: true });
const waiting: ToChild[] = [];
const read = messageReader<ToChild>();
let engine: Engine | null = null;
let isWorking = false;
/** Packets of media that are worked off. */
let packets = 0;
let busyMs = 0;
let reported = { packets: 0, at: -Infinity };

input.on("data", (bytes) => {
  waiting.push(...read(bytes));
  if (waiting.length >= MAX_WAITING) input.pause();
  if (!isWorking) work().catch(fail);
});
for (const pipe of [input, output]) pipe.on("error", () => process.exit(1)).on("close", () => process.exit(0));
process.on("uncaughtException", fail);
send({ type: "loaded" });

async function work(): Promise<void> {
  isWorking = true;
  for (let message = waiting.shift(); message; message = waiting.shift()) {
    if (waiting.length < MAX_WAITING / 2) input.resume();
    const begun = systemClock.monotonic();
    if (isStill(message)) engine ??= stillEngine(send);
    if (engine) await engine(message);
    else if (message.type === "start") engine = await TranscodeEngine.open(message.start, send, systemClock);
    else if (message.type === "start-audio") engine = await openAudioEngine(message.start, send);
    else if (message.type === "start-preview") {
      giveWay(NICENESS_OF_PREVIEWS);
      engine = await PreviewEngine.open(message.start, send);
    } else throw unexpected(message);
    busyMs += systemClock.monotonic() - begun;
    if (message.type === "packet" || message.type === "audio") packets++;
    reportProgress();
    if (output.writableNeedDrain) await once(output, "drain");
  }
  isWorking = false;
}

/** A server that was started with a lower priority keeps it: a confined child may not raise its own. */
function giveWay(niceness: number): void {
  setPriority(Math.max(niceness, getPriority()));
}

/** The last packet before a rest is reported in any case: the parent sends no more to a child that it believes to be behind. */
function reportProgress(): void {
  const at = systemClock.monotonic();
  if (packets === reported.packets || (waiting.length > 0 && at - reported.at < PROGRESS_INTERVAL_MS)) return;
  reported = { packets, at };
  send({ type: "progress", packets, busyMs });
}

function send(message: FromChild): void {
  output.write(frameOf(message));
}

function fail(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof FatalTranscodeError ? error.code : "internal";
  output.end(frameOf({ type: "error", code, message, isFatal: true }), () => process.exit(1));
}
