import { rmSync } from "node:fs";
import type { Server } from "node:net";

/** A Unix socket of this process, whose path no other living process uses. */
export class LocalListener {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** Starts a server here, in place of one that a killed process has left. Later errors go to `onError`. */
  async open(server: Server, onError: (error: Error) => void): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    rmSync(this.path, { force: true });
    server.on("error", (error) => (server.listening ? onError(error) : reject(error)));
    // Without "exclusive", a process with a parent asks it for the socket.
    server.listen({ path: this.path, exclusive: true }, resolve);
    await promise;
  }
}
