import { TurnCredentials } from "../media/webrtc/index.ts";
import type { Clock } from "../platform/clock.ts";
import { StartupError } from "../platform/startup-error.ts";
import type { Config } from "./config.ts";

/** Above WebRTC's ports: each media process of a machine has one of those. */
const ABOVE = 100;

/** The UDP port at which a process takes what TURN servers relay, by its WebRTC port. */
export const relayedPortAbove = (webrtcPort: number): number =>
  webrtcPort + ABOVE <= 65_535 ? webrtcPort + ABOVE : webrtcPort - ABOVE;

/** The operator's TURN servers; null where there are none. Throws `StartupError` for addresses without a secret, or a secret without addresses. */
export function openTurn(
  { turnUrls: urls, turnSecret: secret }: Pick<Config, "turnUrls" | "turnSecret">,
  clock: Clock,
): TurnCredentials | null {
  if (urls === null && secret === null) return null;
  if (urls === null || secret === null)
    throw new StartupError("WEIR_TURN_URLS and WEIR_TURN_SECRET go together: set both, or none");
  return new TurnCredentials({ clock, urls, secret });
}
