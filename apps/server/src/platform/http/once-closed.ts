import type { Writable } from "node:stream";

/** Runs `action` when a response has left or its client is gone, also if that was before: Node tells it once. */
export function onceClosed(response: Pick<Writable, "destroyed" | "once">, action: () => void): void {
  if (response.destroyed) action();
  else response.once("close", action);
}
