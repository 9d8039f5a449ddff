import { once } from "node:events";
import { flushCompileCache } from "node:module";
import { Socket } from "node:net";
import { Libsrt } from "./libsrt.ts";
import { SrtCaller } from "./srt-caller.ts";
import { SrtListener } from "./srt-listener.ts";
import {
  FIRST_CALLER,
  type FromSrtChild,
  frameFromSrtChild,
  type SrtPlace,
  type ToSrtChild,
  toSrtChildReader,
} from "./srt-protocol.ts";
import { SrtReader } from "./srt-reader.ts";

/**
 * The process with all SRT connections, separate because libsrt is native code that parses packets from strangers. It exits when its input pipe
 * closes.
 */

/** libsrt sends and receives in its own threads. At this interval targets get more data, and their state is checked. */
const LOOK_MS = 10;
/** Publishers' sockets are emptied at this interval, and at longer ones the more there are: a look costs about as much as the messages of 10 ms. */
const RECEIVE_MS = { least: 20, moreForEach: 1, most: 60 };
/** While there are targets. */
const TELL_MS = 200;
/** Also the sign of life of a process that has nothing to do. */
const LINKS_MS = 1_000;
/** While the server is so far behind, libsrt keeps what comes, and its senders notice. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;

const input = new Socket({ fd: 3, readable: true, writable: false });
const output = new Socket({ fd: 4, readable: false, writable: true });
const read = toSrtChildReader();
const callers = new Map<number, SrtCaller | SrtReader>();
let listener: SrtListener | null = null;
const srt = await Libsrt.load();

function run(library: Libsrt): void {
  input.on("data", (bytes) => {
    for (const message of read(bytes)) take(library, message);
  });
  setInterval(() => send({ type: "links", links: listener?.links() ?? [] }), LINKS_MS);
}

/** Returns a function that has `work` done every so often, until it returns false: an idle process is to cost nothing. */
function repeated(ms: () => number, work: () => boolean): () => void {
  let isDue = false;
  const step = (): void => {
    isDue = work();
    if (isDue) setTimeout(step, ms());
  };
  return () => {
    if (isDue) return;
    isDue = true;
    setTimeout(step, ms());
  };
}

function takenByTargets(): (readonly [id: number, bytes: number])[] {
  return [...callers].flatMap(([id, caller]) => (caller instanceof SrtCaller ? [[id, caller.taken] as const] : []));
}

const isUnread = (): boolean => output.writableLength >= MAX_UNREAD_BYTES;

const tellTargets = repeated(
  () => TELL_MS,
  () => {
    send({ type: "taken", taken: takenByTargets() });
    return callers.size > 0;
  },
);

const lookAtCallers = repeated(
  () => LOOK_MS,
  () => {
    for (const [id, caller] of callers) {
      if (caller instanceof SrtCaller || !isUnread()) caller.look();
      if (caller.isOver) callers.delete(id);
    }
    return callers.size > 0;
  },
);

const publishers = (): number => listener?.callers ?? 0;

const receiveMs = (): number => Math.min(RECEIVE_MS.most, RECEIVE_MS.least + RECEIVE_MS.moreForEach * publishers());

const receive = repeated(receiveMs, () => {
  if (!listener || publishers() === 0) return false;
  if (isUnread()) return true;
  // What all sockets have is one write.
  output.cork();
  listener.look();
  output.uncork();
  return true;
});

// An exit waits for the thread that waits for callers.
const end = (): boolean => process.kill(process.pid, "SIGKILL");

process.on("uncaughtException", end);
for (const pipe of [input, output]) pipe.on("error", end).on("close", end);
// Which leaves no compiled code for the next one.
flushCompileCache();
if (srt) run(srt);
else output.end(frameFromSrtChild({ type: "no-library" }));

function take(library: Libsrt, message: ToSrtChild): void {
  if (message.type === "listen") return listen(library, message.place);
  const { id } = message;
  if (message.type === "receive") return listener?.receive(id);
  const caller = callers.get(id);
  if (message.type === "media") return caller instanceof SrtCaller ? caller.give(message.bytes) : undefined;
  if (message.type === "close") {
    if (id >= FIRST_CALLER) return listener?.close(id);
    if (caller instanceof SrtCaller && !message.isAtOnce) return caller.finish();
    return caller?.close();
  }
  const { peer } = message.call;
  const socket = library.connect(message.call);
  if (typeof socket === "string")
    return send({ type: "failed", id, reason: `The ${peer} cannot be reached: ${socket}.` });
  const events = {
    connected: () => send({ type: "connected", id }),
    failed: (reason: string) => send({ type: "failed", id, reason }),
    media: (bytes: Uint8Array) => send({ type: "media", id, bytes }),
  };
  callers.set(id, peer === "target" ? new SrtCaller(library, socket, events) : new SrtReader(library, socket, events));
  lookAtCallers();
  tellTargets();
}

function listen(library: Libsrt, place: SrtPlace): void {
  const socket = library.listen(place);
  if (typeof socket === "string") return send({ type: "not-listening", reason: socket });
  const isEncrypted = place.passphrase !== null;
  const room = async () => isUnread() && once(output, "drain");
  listener = new SrtListener({
    srt: library,
    socket,
    isEncrypted,
    send,
    wake: receive,
    room,
    now: () => performance.now(),
  });
  void listener.accept();
  send({ type: "listening" });
}

function send(message: FromSrtChild): void {
  output.write(frameFromSrtChild(message));
}
