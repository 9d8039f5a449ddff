import { inject } from "vitest";
import { WeirServer } from "./weir-server.ts";

/** The shared server's settings. A test that needs other settings starts its own server. */
export const SHARED_SETTINGS: Readonly<Record<string, string>> = {
  WEIR_ALLOW_PRIVATE_URLS: "1",
  WEIR_RATE_LIMIT: "0",
  // No test's ladder is refused because of other tests.
  WEIR_TRANSCODE_CORES: "16",
  WEIR_TRUSTED_PROXIES: "127.0.0.1",
};

/** The run's shared server. A test only uses its own streams, since others run at the same time. */
export function sharedServer(): WeirServer {
  return new WeirServer(inject("sharedServer"));
}
