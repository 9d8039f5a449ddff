import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Limit for pipelined requests, which arrive before the response to an earlier one was sent. Common clients send none. */
const MAX_WAITING_BYTES = 128 * 1024 * 1024;
const MAX_WAITING_BYTES_PER_CONNECTION = 2 * 1024 * 1024;
/** A request without its texts: parser, streams and lists of Node. */
const REQUEST_BYTES = 3_000;

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** The requests of a connection. */
interface Line {
  isAnswering: boolean;
  /** Requests behind the one being answered. */
  readonly exchanges: Exchange[];
  bytes: number;
}

/**
 * Handle the requests of a connection one after the other: the next one starts when the last response has left. Node itself passes on all
 * requests of a packet at once, so a few kB would start hundreds of responses that nobody reads. A connection that sends too many is closed.
 */
export function oneAtATime(handle: Handler): Handler {
  const lines = new WeakMap<Socket, Line>();
  let waitingBytes = 0;

  const begin = ({ request, response }: Exchange, line: Line): void => {
    line.isAnswering = true;
    response.on("close", () => goOn(request.socket, line));
    handle(request, response);
  };

  const goOn = (socket: Socket, line: Line): void => {
    line.isAnswering = false;
    const next = socket.destroyed ? undefined : line.exchanges.shift();
    const bytes = next ? sizeOf(next.request) : line.bytes;
    line.bytes -= bytes;
    waitingBytes -= bytes;
    if (next) begin(next, line);
    else line.exchanges.length = 0;
  };

  const lineOf = (socket: Socket): Line => {
    const known = lines.get(socket);
    if (known) return known;
    const line = { isAnswering: false, exchanges: [], bytes: 0 };
    lines.set(socket, line);
    return line;
  };

  return (request, response) => {
    const line = lineOf(request.socket);
    if (!line.isAnswering) return begin({ request, response }, line);
    const bytes = sizeOf(request);
    if (line.bytes + bytes > MAX_WAITING_BYTES_PER_CONNECTION || waitingBytes + bytes > MAX_WAITING_BYTES)
      return void request.socket.destroy();
    line.exchanges.push({ request, response });
    line.bytes += bytes;
    waitingBytes += bytes;
  };
}

/** Approximate memory of a request. */
function sizeOf({ url = "", rawHeaders }: IncomingMessage): number {
  return rawHeaders.reduce((bytes, text) => bytes + text.length, REQUEST_BYTES + url.length);
}
