import type { LineFormat } from "./line-format.ts";

/** Why a target has no connection, or no longer. */
export interface TargetFailure {
  /** For people to read. Nothing of the target's address stands in it. */
  readonly reason: string;
  /** Another attempt may succeed. */
  readonly mayHeal: boolean;
}

export interface TargetConnectionHandler {
  /** The target takes the broadcast in this format. Connections whose formats have the same key share their bytes. */
  ready(format: { readonly key: string; create(): LineFormat }): void;
  /** The connection is over. Told at most once, and not after `close` or `destroy`. */
  failed(failure: TargetFailure): void;
}

/** A way to a target, whatever its protocol. */
export interface TargetConnection {
  /** Of what was written, what the target has not taken yet. */
  readonly queuedBytes: number;
  /** Keeps `bytes` until they are taken. */
  write(bytes: Uint8Array): void;
  /** The broadcast is over: what is queued may still be sent, for a moment. */
  close(): void;
  /** At once. */
  destroy(): void;
}

/** Opens a connection to an address that a customer gave. Never throws. */
export type ConnectTarget = (url: string, handler: TargetConnectionHandler) => TargetConnection;
