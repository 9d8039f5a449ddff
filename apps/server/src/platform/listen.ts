import type { ListenOptions, Server } from "node:net";

/**
 * Starts a listener. Rejects with Node's error if the port cannot be opened. Later errors go to `onError`: Node emits one when it cannot accept
 * a connection, for lack of memory or file descriptors, and without a listener it would end the process.
 */
export function listen(server: Server, options: ListenOptions, onError: (error: Error) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    server.on("error", (error) => {
      if (server.listening) onError(error);
      else reject(error);
    });
    server.listen(options, resolve);
  });
}
