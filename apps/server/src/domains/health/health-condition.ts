import type { Condition } from "@weir/contract";

const MINUTE_MS = 60_000;
const MAX_MS = 60 * MINUTE_MS;
/** Twice the number of readings of a live stream in an hour; the oldest are dropped. */
const MAX_READINGS = 4096;

/** One condition of a stream: its last reading and the readings of the hour before. */
export class HealthCondition {
  status: boolean | null = null;
  #probedAt: number | null = null;
  #changedAt: number | null = null;
  /** Readings in order of arrival, each as one number because there are thousands: twice the time, plus 1 if the reading was good. */
  #readings: number[] = [];

  probe(isGood: boolean, at: number): void {
    if (isGood !== this.status) this.#changedAt = at;
    this.status = isGood;
    this.#probedAt = at;
    this.#readings.push(at * 2 + Number(isGood));
    if (this.#readings.length > MAX_READINGS) this.#forget(at - MAX_MS);
  }

  clear(): void {
    this.status = null;
    this.#probedAt = null;
    this.#changedAt = null;
    this.#readings = [];
  }

  /** The condition as the API shows it. */
  record(): Condition {
    const { status } = this;
    return {
      status,
      ...(status === null ? {} : { frequency: this.#frequency() }),
      lastProbeTime: this.#probedAt,
      lastTransitionTime: this.#changedAt,
      lastTransitionsTime: this.#changedAt,
    };
  }

  #frequency(): NonNullable<Condition["frequency"]> {
    return {
      "1m": this.#goodShare(MINUTE_MS),
      "10m": this.#goodShare(10 * MINUTE_MS),
      "60m": this.#goodShare(MAX_MS),
    };
  }

  /** Share of good readings in the window before the last one, its start excluded. Exact. */
  #goodShare(lengthMs: number): number {
    const last = this.#probedAt ?? 0;
    let all = 0;
    let good = 0;
    for (const reading of this.#readings) {
      const at = Math.floor(reading / 2);
      if (at <= last - lengthMs || at > last) continue;
      all += 1;
      good += reading % 2;
    }
    return good / all;
  }

  #forget(until: number): void {
    this.#readings = this.#readings.filter((reading) => reading / 2 > until).slice(-MAX_READINGS / 2);
  }
}
