import { inject } from "vitest";
import { WeirServer } from "./weir-server.ts";

/** The shared server's settings. A test that needs others starts a server of its own. */
export const SHARED_SETTINGS: Readonly<Record<string, string>> = {
  WEIR_ALLOW_PRIVATE_URLS: "1",
  WEIR_RATE_LIMIT: "0",
  // No test is refused its ladder because others have theirs.
  WEIR_TRANSCODE_CORES: "16",
  WEIR_TRUSTED_PROXIES: "127.0.0.1",
};

/** The server of the run. Other tests use it at the same time: a test owns its streams, and looks at nothing else. */
export function sharedServer(): WeirServer {
  return new WeirServer(inject("sharedServer"));
}
