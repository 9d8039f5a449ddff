import { rmSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";

/**
 * One holder per name in a run folder: a listening unix socket. The kernel drops it with the process, however that ends, and no number
 * can be mistaken for another process's, as with a file that holds a process id. It works across containers that share the folder.
 */
export interface FolderLock {
  release(): Promise<void>;
}

/** The lock at `path`, or null where a living process holds it. */
export async function takeLock(path: string): Promise<FolderLock | null> {
  if (await isAnswered(path)) return null;
  // Nobody listens: what is left there, if anything, is a dead process's.
  rmSync(path, { force: true });
  const server = createServer((socket) => socket.destroy());
  const isBound = await listen(server, path);
  if (!isBound) return null;
  return { release: () => new Promise((resolve) => server.close(() => resolve())) };
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

function listen(server: Server, path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      error.code === "EADDRINUSE" ? resolve(false) : reject(error),
    );
    server.listen(path, () => resolve(true));
  });
}
