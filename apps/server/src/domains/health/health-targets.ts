import type { MediaServerMetricsEvent, TargetHealth, WebhookEvent } from "@weir/contract";
import { HealthCondition } from "./health-condition.ts";

type Target = TargetHealth["target"];

interface KnownTarget {
  target: Target;
  readonly connected: HealthCondition;
  isGivenUp: boolean;
  reason: string | null;
}

/** The multistream targets of the current session: measured by every `media_server_metrics` event, and reported when they connect and disconnect. */
export class HealthTargets {
  readonly #targets = new Map<string, KnownTarget>();

  /** Null if there is none. */
  get areConnected(): boolean | null {
    if (this.#targets.size === 0) return null;
    return [...this.#targets.values()].every(({ connected }) => connected.status === true);
  }

  /** All targets that are configured and enabled are listed, without metrics while they are not connected. */
  measured(measured: MediaServerMetricsEvent["multistream"], at: number): void {
    const listed = new Set(measured.map(({ target }) => keyOf(target)));
    for (const key of this.#targets.keys()) if (!listed.has(key)) this.#targets.delete(key);
    for (const { target, metrics, reason = null } of measured) {
      const known = this.#know(target);
      known.connected.probe(metrics !== null, at);
      if (metrics !== null) known.isGivenUp = false;
      if (metrics !== null || reason !== null) known.reason = reason;
    }
  }

  /** False for an event that is not about a target. */
  told({ event, payload, timestamp }: WebhookEvent): boolean {
    if (!event.startsWith("multistream.")) return false;
    const target = targetIn(payload);
    if (!target) return false;
    if (event === "multistream.disconnected") return this.#targets.delete(keyOf(target));
    if (event !== "multistream.connected" && event !== "multistream.error") return false;
    const known = this.#know(target);
    const isConnected = event === "multistream.connected";
    known.connected.probe(isConnected, timestamp);
    known.isGivenUp = !isConnected && payload?.willRetry !== true;
    known.reason = !isConnected && typeof payload?.reason === "string" ? payload.reason : null;
    return true;
  }

  clear(): void {
    this.#targets.clear();
  }

  record(isActive: boolean): TargetHealth[] {
    return [...this.#targets.values()].map(({ target, connected, isGivenUp, reason }) => ({
      target,
      connected: connected.record(),
      state: !isActive ? "Idle" : connected.status === true ? "Online" : isGivenUp ? "Offline" : "Pending",
      ...(reason === null ? {} : { reason }),
    }));
  }

  #know(target: Target): KnownTarget {
    const key = keyOf(target);
    const known = this.#targets.get(key) ?? {
      target,
      connected: new HealthCondition(),
      isGivenUp: false,
      reason: null,
    };
    known.target = target;
    this.#targets.set(key, known);
    return known;
  }
}

/** A stream can send several of its renditions to one target. */
const keyOf = ({ id, profile }: Target): string => `${id}/${profile}`;

function targetIn(payload: WebhookEvent["payload"]): Target | null {
  const { id, name, profile } = (payload?.target ?? {}) as Partial<Record<keyof Target, unknown>>;
  return typeof id === "string" && typeof name === "string" && typeof profile === "string"
    ? { id, name, profile }
    : null;
}
