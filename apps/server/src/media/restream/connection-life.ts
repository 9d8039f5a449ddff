import type { Clock, Timer } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { TargetConnectionHandler, TargetFailure } from "./target-connection.ts";

/** From name resolution until the target accepts the stream; longer than the timeout of the SRT library. */
const CONNECT_MS = 15_000;

/** What a connection of any protocol is made with. */
export interface ConnectionSettings {
  readonly clock: Clock;
  readonly log: Log;
  readonly url: string;
  readonly handler: TargetConnectionHandler;
  /** Called once, when the connection has ended for any reason. */
  readonly onOver: () => void;
}

/** A connection from the attempt, for which there is limited time, to its one end, whoever makes it. */
export class ConnectionLife {
  readonly #settings: ConnectionSettings;
  readonly #deadline: Timer;
  /** Frees what the connection holds, and calls `end`. */
  readonly #destroy: () => void;
  isOver = false;

  constructor(settings: ConnectionSettings, destroy: () => void) {
    this.#settings = settings;
    this.#destroy = destroy;
    const lose = () => this.lose(`The target did not accept the stream within ${CONNECT_MS / 1000} s.`);
    this.#deadline = settings.clock.after(CONNECT_MS, lose);
  }

  accepted(format: Parameters<TargetConnectionHandler["ready"]>[0]): void {
    this.#deadline.cancel();
    this.#settings.handler.ready(format);
  }

  /** The connection has failed; a retry may succeed. */
  lose(reason: string): void {
    this.fail({ reason, isTemporary: true });
  }

  fail(failure: TargetFailure): void {
    if (this.isOver) return;
    this.#destroy();
    this.#settings.handler.failed(failure);
  }

  end(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#settings.onOver();
    this.#deadline.cancel();
  }
}
