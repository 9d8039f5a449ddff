import { Socket } from "node:net";
import { Libsrt } from "./libsrt.ts";
import { SrtCaller } from "./srt-caller.ts";
import { type FromSrtChild, frameFromSrtChild, type ToSrtChild, toSrtChildReader } from "./srt-protocol.ts";

/**
 * The process with all SRT connections, separate because libsrt is native code that parses packets from strangers. It exits when its input pipe
 * closes.
 */

/** libsrt sends in its own threads. At this interval they get more data and their state is checked. */
const LOOK_MS = 10;
const TELL_MS = 200;

const input = new Socket({ fd: 3, readable: true, writable: false });
const output = new Socket({ fd: 4, readable: false, writable: true });
const read = toSrtChildReader();
const callers = new Map<number, SrtCaller>();
const srt = await Libsrt.load();

for (const pipe of [input, output]) pipe.on("error", () => process.exit(1)).on("close", () => process.exit(0));
if (srt) run(srt);
else output.end(frameFromSrtChild({ type: "no-library" }));

function run(library: Libsrt): void {
  input.on("data", (bytes) => {
    for (const message of read(bytes)) take(library, message);
  });
  setInterval(() => send({ type: "taken", taken: [...callers].map(([id, { taken }]) => [id, taken]) }), TELL_MS);
}

function look(): void {
  for (const [id, caller] of callers) {
    caller.look();
    if (caller.isOver) callers.delete(id);
  }
  if (callers.size > 0) setTimeout(look, LOOK_MS);
}

function take(library: Libsrt, message: ToSrtChild): void {
  const { id } = message;
  if (message.type === "media") return callers.get(id)?.give(message.bytes);
  if (message.type === "close") {
    const caller = callers.get(id);
    if (message.isAtOnce) caller?.close();
    else caller?.finish();
    return;
  }
  const socket = library.connect(message.call);
  if (typeof socket === "string")
    return send({ type: "failed", id, reason: `The target cannot be reached: ${socket}.` });
  const events = {
    connected: () => send({ type: "connected", id }),
    failed: (reason: string) => send({ type: "failed", id, reason }),
  };
  if (callers.size === 0) setTimeout(look, LOOK_MS);
  callers.set(id, new SrtCaller(library, socket, events));
}

function send(message: FromSrtChild): void {
  output.write(frameFromSrtChild(message));
}
