import { signAccessJwt } from "@weir/client";
import type { CreatedSigningKey } from "@weir/contract";
import { expect } from "vitest";
import { type Broadcast, type BroadcastOptions, startBroadcast } from "./broadcast.ts";
import type { WeirServer } from "./weir-server.ts";

/** A signing key, and the tokens that a customer's server makes with it. */
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

  sign(playbackId: string): Promise<string> {
    const { privateKey, publicKey } = this.key;
    return signAccessJwt({ privateKey, publicKey, playbackId, expiration: "10m" });
  }

  /** Tokens that it signed are worthless from now on. */
  disable(): Promise<void> {
    return this.#weir.client.signingKeys.patch(this.key.id, { disabled: true });
  }
}

/** A live stream that is watched with a token alone. */
export function startGatedBroadcast(
  weir: WeirServer,
  options: BroadcastOptions = {},
  media = weir,
): Promise<Broadcast> {
  return startBroadcast(weir, { ...options, stream: { ...options.stream, playbackPolicy: { type: "jwt" } } }, media);
}

/** Address of the first rendition that a multivariant playlist leads to, as soon as there is one. */
export async function childOf(multivariant: string): Promise<string> {
  let child: string | undefined;
  const look = async () => {
    const playlist = await fetch(multivariant).then((answer) => answer.text());
    child = /^s\/.*m3u8$/m.exec(playlist)?.[0];
    return child;
  };
  await expect.poll(look, { timeout: 15_000 }).toBeDefined();
  return new URL(child ?? "", multivariant).href;
}
