import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Places } from "../limits/places.ts";

/** Requests that came before the answer to an earlier one on their connection was sent: some 3 kB each. */
const MAX_WAITING = 50_000;
/** Common clients send the next request after the last answer. */
const MAX_WAITING_PER_CONNECTION = 1_000;

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/**
 * Handle the requests of a connection one after the other: the next one when the last answer has left. Node itself hands over all requests
 * of a packet at once, so that a few kB would begin hundreds of answers that nobody reads. A connection that sends too many is closed.
 */
export function oneAtATime(handle: Handler): Handler {
  /** Connections with an answer under way, and the requests behind it. */
  const busy = new Map<Socket, Exchange[]>();
  const places = new Places<Socket>({ inAll: MAX_WAITING, perHolder: MAX_WAITING_PER_CONNECTION });

  const begin = ({ request, response }: Exchange, behind: Exchange[]): void => {
    busy.set(request.socket, behind);
    response.once("close", () => goOn(request.socket, behind));
    handle(request, response);
  };

  const goOn = (socket: Socket, behind: Exchange[]): void => {
    busy.delete(socket);
    const next = behind.shift();
    if (!next) return;
    places.giveBack(socket);
    if (!socket.destroyed) return begin(next, behind);
    for (const _ of behind) places.giveBack(socket);
  };

  return (request, response) => {
    const behind = busy.get(request.socket);
    if (!behind) begin({ request, response }, []);
    else if (places.take(request.socket)) behind.push({ request, response });
    else request.socket.destroy();
  };
}
