import { lookup } from "node:dns/promises";
import { isIPv4 } from "node:net";
import { TurnCredentials } from "../../media/webrtc/index.ts";
import { type Check, type Finding, ok, problem, reasonOf } from "./finding.ts";
import { readTurnUrl, TurnClient, TurnRefused } from "./turn-client.ts";

/** Hosts that nobody's viewers need: this one, and one of the network for examples in documents. */
const STRANGERS = ["127.0.0.1", "192.0.2.1"];
const DOCS = "docs/4-operate/turn.md";
/** A request that is well signed, and refused for its peer. */
const FORBIDDEN = 403;

/** Whether each TURN server takes Weir's credentials, and lets viewers reach Weir and nobody else. */
export const checkTurn: Check = async ({ config, clock }) => {
  const { turnUrls: urls, turnSecret: secret, webrtcAddress, publicUrl } = config;
  if (urls === null || secret === null) return [];
  const { username, credential } = new TurnCredentials({ clock, urls, secret }).iceServer("weir doctor");
  const wanted = webrtcAddress?.find(isIPv4) ?? (publicUrl === null ? null : await addressOf(publicUrl));
  return Promise.all(urls.map((url) => judged(url, username, credential, wanted)));
};

async function judged(url: string, username: string, credential: string, weir: string | null): Promise<Finding> {
  try {
    await using client = await TurnClient.allocate(readTurnUrl(url), username, credential);
    const open = (await Promise.all(STRANGERS.map((peer) => isPermitted(client, peer)))).indexOf(true);
    if (open !== -1)
      return problem(
        "TURN",
        `${url} lets viewers reach ${STRANGERS[open]}, so it is an open relay: deny it all peers but Weir (${DOCS})`,
      );
    if (weir !== null && !(await isPermitted(client, weir)))
      return problem(
        "TURN",
        `${url} does not let viewers reach Weir at ${weir}: allow that peer (allowed-peer-ip of coturn, ${DOCS})`,
      );
    return ok("TURN", `${url} takes Weir's credentials, and leads to ${weir ?? "nobody unknown"} alone`);
  } catch (error) {
    if (error instanceof TurnRefused)
      return problem(
        "TURN",
        `${url} refuses Weir's credentials (${error.code}): give it use-auth-secret, and WEIR_TURN_SECRET as static-auth-secret`,
      );
    return problem(
      "TURN",
      `${url} does not answer (${reasonOf(error)}): start it, open its port, or correct WEIR_TURN_URLS`,
    );
  }
}

async function isPermitted(client: TurnClient, peer: string): Promise<boolean> {
  try {
    await client.permit(peer);
    return true;
  } catch (error) {
    if (error instanceof TurnRefused && error.code === FORBIDDEN) return false;
    throw error;
  }
}

async function addressOf(publicUrl: string): Promise<string | null> {
  const found = await lookup(new URL(publicUrl).hostname, { family: 4 }).catch(() => null);
  return found?.address ?? null;
}
