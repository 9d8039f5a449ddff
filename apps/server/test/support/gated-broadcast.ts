import { signAccessJwt } from "@weir/client";
import type { CreatedSigningKey } from "@weir/contract";
import { expect, vi } from "vitest";
import { type Broadcast, type BroadcastOptions, startBroadcast } from "./broadcast.ts";
import type { WeirServer } from "./weir-server.ts";

/** A signing key, and tokens signed with it as by a customer's server. */
export class TokenSigner {
  readonly key: CreatedSigningKey;
  readonly #weir: WeirServer;

  private constructor(weir: WeirServer, key: CreatedSigningKey) {
    this.#weir = weir;
    this.key = key;
  }

  static async create(weir: WeirServer): Promise<TokenSigner> {
    return new TokenSigner(weir, await weir.client.signingKeys.create());
  }

  sign(playbackId: string, expiration = "10m"): Promise<string> {
    const { privateKey, publicKey } = this.key;
    return signAccessJwt({ privateKey, publicKey, playbackId, expiration });
  }

  /** Invalidates all tokens signed with it. */
  disable(): Promise<void> {
    return this.#weir.client.signingKeys.patch(this.key.id, { disabled: true });
  }
}

/** A live stream that requires a token. */
export function startGatedBroadcast(
  weir: WeirServer,
  options: BroadcastOptions = {},
  media = weir,
): Promise<Broadcast> {
  return startBroadcast(weir, { ...options, stream: { ...options.stream, playbackPolicy: { type: "jwt" } } }, media);
}

/** URL of the first rendition in a multivariant playlist, once there is one. */
export async function childOf(multivariant: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  let child: string | undefined;
  const look = async () => {
    const playlist = await fetch(multivariant, { headers }).then((answer) => answer.text());
    child = /^s\/.*m3u8$/m.exec(playlist)?.[0];
    expect(child).toBeDefined();
  };
  await vi.waitFor(look, { timeout: 15_000 });
  return new URL(child ?? "", multivariant).href;
}
