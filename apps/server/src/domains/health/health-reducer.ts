import type {
  ConditionType,
  HealthMetric,
  MediaServerMetricsEvent,
  StreamEvent,
  StreamHealth,
  StreamStateEvent,
  TranscodeEvent,
  WebhookEvent,
} from "@weir/contract";
import { CONDITION_TYPES } from "@weir/contract";
import { HealthCondition } from "./health-condition.ts";
import { HealthTargets } from "./health-targets.ts";

/**
 * The health of a stream, derived only from its events in order, so that the same events always give the same record. Becoming active resets
 * everything except the history of being active. An inactive stream is not healthy; its other conditions keep their last reading.
 */
export class HealthReducer {
  readonly #streamId: string;
  readonly #healthy = new HealthCondition();
  readonly #conditions: Readonly<Record<ConditionType, HealthCondition>>;
  readonly #targets = new HealthTargets();
  readonly #metrics = new Map<string, HealthMetric>();
  #place: { readonly nodeId: string; readonly region: string } | null = null;
  #activeSince = 0;

  constructor(streamId: string) {
    this.#streamId = streamId;
    this.#conditions = {
      Active: new HealthCondition(),
      Transcoding: new HealthCondition(),
      TranscodeRealTime: new HealthCondition(),
      TranscodeNoErrors: new HealthCondition(),
      Multistreaming: new HealthCondition(),
    };
  }

  apply(event: StreamEvent): void {
    switch (event.type) {
      case "stream_state":
        this.#state(event);
        break;
      case "transcode":
        if (!this.#transcode(event)) return;
        break;
      case "media_server_metrics":
        this.#measured(event);
        break;
      case "webhook_event":
        if (!this.#told(event)) return;
        break;
      default:
        return;
    }
    this.#healthy.probe(this.#isHealthy(), event.timestamp);
  }

  record(): StreamHealth {
    const { Active } = this.#conditions;
    return {
      id: this.#streamId,
      healthy: this.#healthy.record(),
      conditions: CONDITION_TYPES.map((type) => ({
        type,
        ...this.#conditions[type].record(),
        ...(type === "Active" && this.#place ? { extraData: this.#place } : {}),
      })),
      metrics: Object.fromEntries(Map.groupBy(this.#metrics.values(), ({ name }) => name)),
      multistream: this.#targets.record(Active.status === true),
    };
  }

  #state({ state, nodeId, region = "", timestamp }: StreamStateEvent): void {
    const { Active, ...others } = this.#conditions;
    Active.probe(state.active, timestamp);
    if (!state.active) return;
    this.#place = { nodeId, region };
    this.#activeSince = timestamp;
    for (const condition of [this.#healthy, ...Object.values(others)]) condition.clear();
    this.#targets.clear();
    this.#metrics.clear();
  }

  /** The last segments of a session may be reported after the next session began; ignore them. */
  #transcode({
    startTime,
    timestamp,
    success,
    missing,
    latencyMs,
    segment,
    attempts,
    nodeId,
  }: TranscodeEvent): boolean {
    if ((startTime || timestamp) < this.#activeSince) return false;
    const { Transcoding, TranscodeRealTime, TranscodeNoErrors } = this.#conditions;
    const ratio = latencyMs > 0 ? (segment.duration * 1000) / latencyMs : 0;
    Transcoding.probe(success, timestamp);
    // A failure may have been a fast one.
    TranscodeRealTime.probe(success && missing === undefined && ratio >= 1, timestamp);
    TranscodeNoErrors.probe(
      attempts.every(({ error }) => error === null),
      timestamp,
    );
    if (success && ratio > 0) this.#measure("TranscodeRealtimeRatio", { nodeId }, timestamp, ratio);
    return true;
  }

  #measuredSrt(
    link: NonNullable<MediaServerMetricsEvent["stats"]["srt"]>,
    dimensions: Readonly<Record<string, string>>,
    timestamp: number,
  ): void {
    this.#measure("SrtRoundTripMillis", dimensions, timestamp, link.roundTripMs ?? 0);
    this.#measure("SrtLatencyMillis", dimensions, timestamp, link.latencyMs);
    this.#measure("SrtFractionLost", dimensions, timestamp, link.fractionLost);
    this.#measure("SrtRetransmits", dimensions, timestamp, link.retransmits);
    this.#measure("SrtLatePackets", dimensions, timestamp, link.latePackets);
  }

  #measured({ stats, nodeId, region = "", timestamp, multistream }: MediaServerMetricsEvent): void {
    if (stats.mediaTimeMs !== null) this.#measure("MediaTimeMillis", { nodeId, region }, timestamp, stats.mediaTimeMs);
    for (const [side, link] of Object.entries(stats.webrtc ?? {})) {
      const dimensions = { nodeId, region, side };
      if (link.roundTripMs !== undefined)
        this.#measure("WebrtcRoundTripMillis", dimensions, timestamp, link.roundTripMs);
      this.#measure("WebrtcFractionLost", dimensions, timestamp, link.fractionLost);
      this.#measure("WebrtcRetransmits", dimensions, timestamp, link.retransmits);
    }
    if (stats.srt) this.#measuredSrt(stats.srt, { nodeId, region }, timestamp);
    this.#targets.measured(multistream, timestamp);
    for (const { target, metrics } of multistream) {
      if (!metrics) continue;
      const dimensions = {
        nodeId,
        region,
        targetId: target.id,
        targetName: target.name,
        targetProfile: target.profile,
      };
      const rate = this.#rateOf(dimensions, timestamp, metrics.bytes);
      if (rate !== null) this.#measure("MultistreamBitrateSec", dimensions, timestamp, rate);
      this.#measure("MultistreamActiveSec", dimensions, timestamp, metrics.activeSec);
      this.#measure("MultistreamBytes", dimensions, timestamp, metrics.bytes);
      this.#measure("MultistreamMediaTimeMillis", dimensions, timestamp, metrics.mediaTimeMs);
    }
    this.#probeTargets(timestamp);
  }

  #told(event: WebhookEvent): boolean {
    if (!this.#targets.told(event)) return false;
    this.#probeTargets(event.timestamp);
    return true;
  }

  #probeTargets(at: number): void {
    const { areConnected } = this.#targets;
    if (areConnected === null) this.#conditions.Multistreaming.clear();
    else this.#conditions.Multistreaming.probe(areConnected, at);
  }

  /** True if the stream is active and no condition that applies is false. Without transcoding or targets, those conditions do not apply. */
  #isHealthy(): boolean {
    const { Active, Transcoding, TranscodeRealTime, Multistreaming } = this.#conditions;
    return (
      Active.status === true && [Transcoding, TranscodeRealTime, Multistreaming].every(({ status }) => status !== false)
    );
  }

  /** Bytes per second since the last measurement; null for a connection's first, which counts from 0. */
  #rateOf(dimensions: Readonly<Record<string, string>>, at: number, bytes: number): number | null {
    const [before, count] = this.#metrics.get(keyOf("MultistreamBytes", dimensions))?.last ?? [at, 0];
    return at > before && bytes >= count ? ((bytes - count) * 1000) / (at - before) : null;
  }

  #measure(name: string, dimensions: Readonly<Record<string, string>>, at: number, value: number): void {
    this.#metrics.set(keyOf(name, dimensions), { name, dimensions, last: [at, value] });
  }
}

const keyOf = (name: string, dimensions: Readonly<Record<string, string>>): string =>
  [name, ...Object.values(dimensions)].join("\n");
