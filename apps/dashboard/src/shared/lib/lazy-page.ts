import type { lazyRouteComponent } from "@tanstack/react-router";
import { type ComponentType, lazy } from "react";

const loads: (() => Promise<unknown>)[] = [];

/**
 * A component that is loaded when it is first shown, or by `preloadPages`. The router's own reloads the page when a load fails, which
 * leaves a blank page while the server is away; this one tries again.
 */
export const lazyPage: typeof lazyRouteComponent = (load, name) => {
  loads.push(load);
  return lazy(async () => {
    const module: Record<string, unknown> = await retried(load);
    return { default: module[String(name)] as ComponentType };
  }) as never;
};

/** Loads every page in the background, so that pages open while the server is away: one after the other, each when the browser is idle. */
export async function preloadPages(): Promise<void> {
  for (const load of loads) {
    await idle();
    await load().catch(() => {});
  }
}

const MAX_IDLE_WAIT_MS = 5000;

/** Resolves when the browser is idle. Safari does not report that, so it waits a moment. */
function idle(): Promise<void> {
  return new Promise((resolve) => {
    if ("requestIdleCallback" in window) requestIdleCallback(() => resolve(), { timeout: MAX_IDLE_WAIT_MS });
    else setTimeout(resolve, 200);
  });
}

const RETRY_MS = 3000;

/** Loads code, again and again while it fails; the shell's banner then says that the server is away. */
export async function retried<Loaded>(load: () => Promise<Loaded>): Promise<Loaded> {
  for (;;) {
    try {
      return await load();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}
