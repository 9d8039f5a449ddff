import type { Refused } from "./access-token.ts";
import type { TokenVerifier } from "./token-verifier.ts";

/** Content that is played with tokens, as `access-check.ts` describes it. */
export interface KeyState {
  readonly id: string;
  readonly publicKey: string;
  readonly disabled: boolean;
}

export interface TokenGrant {
  readonly ok: true;
  readonly signingKeyId: string;
  readonly expiresAt: number;
}

const SECOND_MS = 1_000;
const SKEW_MS = 30 * SECOND_MS;
const MAX_LIFE_MS = 7 * 24 * 3_600 * SECOND_MS;
/** Signers round to whole seconds, so seven days may end half a second late. */
const ROUNDING_MS = SECOND_MS / 2;

/**
 * Whether a token opens `playbackId` with the keys of its project. The cheap checks run first. The signature comes last, and only for a key of
 * the project.
 */
export async function checkToken(
  verifier: TokenVerifier,
  text: string,
  content: { readonly playbackId: string; readonly signingKeys: readonly KeyState[] },
  now: number,
): Promise<TokenGrant | Refused> {
  const parsed = verifier.read(text);
  if (!parsed.ok) return parsed;
  const { token } = parsed;
  if (token.playbackId !== content.playbackId) return refused("the token's sub is another playback id");
  if (token.expiresAt <= now) return refused("the token has expired");
  if (!(token.expiresAt <= now + MAX_LIFE_MS + ROUNDING_MS)) {
    return refused("the token's exp is more than seven days ahead; it counts seconds since 1970");
  }
  if (token.startsAt > now + SKEW_MS) return refused("the token's nbf or iat is in the future");
  const key = content.signingKeys.find(({ publicKey }) => publicKey === token.publicKey);
  if (!key) return refused("the token's pub is not the public key of a signing key of this project");
  if (key.disabled) return refused("the token's signing key is disabled");
  if (!(await verifier.isGenuine(token))) return refused("the token was not signed by the private key of its pub");
  return { ok: true, signingKeyId: key.id, expiresAt: token.expiresAt };
}

const refused = (why: string): Refused => ({ ok: false, why });
