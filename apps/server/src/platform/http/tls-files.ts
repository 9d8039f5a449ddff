import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import type { Clock, Timer } from "../clock.ts";
import type { Log } from "../log.ts";
import { StartupError } from "../startup-error.ts";

/** Certificates are renewed days before they expire. */
const LOOK_MS = 10_000;

/** The credentials of a TLS listener, in PEM. */
export interface TlsIdentity {
  readonly cert: Buffer;
  readonly key: Buffer;
}

export interface TlsFilesSettings {
  /** Paths of the certificate with its intermediates, and of its private key. */
  readonly cert: string;
  readonly key: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** A certificate and its key in files, which another program renews. */
export class TlsFiles {
  readonly #settings: TlsFilesSettings;
  #current: TlsIdentity;
  readonly #watchers = new Set<(identity: TlsIdentity) => void>();
  #timer: Timer | null = null;
  #hasComplained = false;

  private constructor(settings: TlsFilesSettings, current: TlsIdentity) {
    this.#settings = settings;
    this.#current = current;
  }

  /** Throws `StartupError` if the files cannot be read or do not match. */
  static async open(settings: TlsFilesSettings): Promise<TlsFiles> {
    try {
      return new TlsFiles(settings, await read(settings));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new StartupError(`WEIR_TLS_CERT and WEIR_TLS_KEY cannot be used: ${reason}`);
    }
  }

  get current(): TlsIdentity {
    return this.#current;
  }

  /** Calls `renewed` when there is another usable certificate, until the returned function is called; until then the previous one stays. */
  watch(renewed: (identity: TlsIdentity) => void): () => void {
    this.#watchers.add(renewed);
    this.#timer ??= this.#settings.clock.every(LOOK_MS, () => void this.#look());
    return () => {
      this.#watchers.delete(renewed);
      if (this.#watchers.size > 0) return;
      this.#timer?.cancel();
      this.#timer = null;
    };
  }

  async #look(): Promise<void> {
    const { log } = this.#settings;
    try {
      const found = await read(this.#settings);
      this.#hasComplained = false;
      if (found.cert.equals(this.#current.cert) && found.key.equals(this.#current.key)) return;
      this.#current = found;
      for (const renewed of this.#watchers) renewed(found);
      log.info("the TLS certificate was renewed");
    } catch (error) {
      // During a replacement, certificate and key may not match.
      if (!this.#hasComplained)
        log.warn({ err: error }, "the TLS certificate cannot be read; going on with the one before");
      this.#hasComplained = true;
    }
  }
}

async function read({ cert, key }: Pick<TlsFilesSettings, "cert" | "key">): Promise<TlsIdentity> {
  const identity = { cert: await readFile(cert), key: await readFile(key) };
  createSecureContext(identity);
  return identity;
}
