import type { LineFormat } from "./line-format.ts";

/** Why a target has no connection. */
export interface TargetFailure {
  /** A sentence for people. It contains no part of the target's URL. */
  readonly reason: string;
  /** True if a retry may succeed. */
  readonly isTemporary: boolean;
}

export interface TargetConnectionHandler {
  /** The target accepts the broadcast in this format. Connections whose formats have the same key share their bytes. */
  ready(format: { readonly key: string; create(): LineFormat }): void;
  /** The connection has ended. Called at most once, and not after `close` or `destroy`. */
  failed(failure: TargetFailure): void;
}

/** A connection to a target, whatever its protocol. */
export interface TargetConnection {
  /** Bytes written that the target has not read yet. */
  readonly queuedBytes: number;
  /** References `bytes` until they are read. */
  write(bytes: Uint8Array): void;
  /** Ends the broadcast. Queued data may still be sent for a moment. */
  close(): void;
  /** Ends the connection immediately. */
  destroy(): void;
}

/** Opens a connection to a customer-supplied URL. Never throws. */
export type ConnectTarget = (url: string, handler: TargetConnectionHandler) => TargetConnection;
