import type { Ingest, ServerAddress } from "@weir/contract";
import type { Deps } from "./deps.ts";

/** Null where it is closed. */
export interface IngestPorts {
  readonly rtmp: number;
  readonly rtmps: number | null;
  readonly srt: number | null;
}

export type IngestAddresses = Pick<Ingest["ingests"], "rtmp" | "rtmps" | "srt">;

/** On the host of `origin`. */
export function ingestAddresses(origin: string, { rtmp, rtmps, srt }: IngestPorts): IngestAddresses {
  const { hostname } = new URL(origin);
  return {
    rtmp: `rtmp://${hostname}:${rtmp}/live`,
    ...(rtmps !== null && { rtmps: `rtmps://${hostname}:${rtmps}/live` }),
    ...(srt !== null && { srt: `srt://${hostname}:${srt}` }),
  };
}

export interface PublicAddressDeps extends Deps {
  /** The address that the operator set, or a guess. */
  publicUrl(): string;
  readonly isPublicUrlSet: boolean;
  ingestPorts(): IngestPorts;
}

interface Known {
  readonly used: string | null;
  readonly pinned: string | null;
}

const NOTHING: Known = { used: null, pinned: null };
/** Another process may have learned another address. */
const KEPT_MS = 5_000;

/**
 * The public address of this server. URLs in a response begin with the address of its request. Everything without a request, such as webhooks,
 * uses the address that an operator pinned or last used, which all processes share. `WEIR_PUBLIC_URL` overrides both.
 */
export class PublicAddress {
  readonly #deps: PublicAddressDeps;
  #known: Known = NOTHING;
  #readAt = -Infinity;

  constructor(deps: PublicAddressDeps) {
    this.#deps = deps;
  }

  /** The base URL for the response to a request sent to `asked`; null if `asked` is not a usable host. */
  answering(asked: string | null): string {
    return this.#deps.isPublicUrlSet ? this.#deps.publicUrl() : (asked ?? this.latest);
  }

  /** As far as this process has read. */
  get latest(): string {
    const { isPublicUrlSet, publicUrl } = this.#deps;
    return (isPublicUrlSet ? null : (this.#known.pinned ?? this.#known.used)) ?? publicUrl();
  }

  async current(): Promise<string> {
    await this.#read();
    return this.latest;
  }

  async describe(): Promise<ServerAddress> {
    await this.#read();
    const { pinned, used } = this.#known;
    const source = this.#deps.isPublicUrlSet ? "setting" : pinned ? "pinned" : used ? "used" : "default";
    return { address: this.latest, source, rtmp: this.ingestsOf(this.latest).rtmp, pinned, lastUsed: used };
  }

  /** The addresses to publish to on the host of `origin`, without WebRTC. */
  ingestsOf(origin: string): IngestAddresses {
    return ingestAddresses(origin, this.#deps.ingestPorts());
  }

  /** A person with access to the whole server used it at this address. */
  async used(origin: string): Promise<void> {
    if (this.#deps.isPublicUrlSet || origin === this.#known.used) return;
    await this.#write({ used: origin });
  }

  /** Null: use the last used address again. */
  async pin(origin: string | null): Promise<void> {
    await this.#write({ pinned: origin });
  }

  async #write(change: Partial<Known>): Promise<void> {
    const { db } = this.#deps;
    const { used, pinned } = await db
      .insertInto("public_address")
      .values({ id: 1, ...NOTHING, ...change })
      .onConflict((conflict) => conflict.column("id").doUpdateSet(change))
      .returning(["used", "pinned"])
      .executeTakeFirstOrThrow();
    this.#known = { used, pinned };
  }

  async #read(): Promise<void> {
    const { db, clock } = this.#deps;
    if (this.#deps.isPublicUrlSet || clock.monotonic() - this.#readAt < KEPT_MS) return;
    this.#known = (await db.selectFrom("public_address").select(["used", "pinned"]).executeTakeFirst()) ?? NOTHING;
    this.#readAt = clock.monotonic();
  }
}
