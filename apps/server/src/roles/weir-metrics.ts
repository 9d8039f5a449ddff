import type { Domains } from "../domains/index.ts";
import type { Database } from "../platform/database.ts";
import type { EventLoopWatch } from "../platform/event-loop.ts";
import type { ConnectionLimits } from "../platform/http/connection-limits.ts";
import type { LabelledCounter, Metrics } from "../platform/metrics/metrics.ts";
import type { UploadServer } from "../platform/uploads/upload-server.ts";
import type { MediaRole } from "./media.ts";

/** Gauges of the process itself, from its start on. */
export function measureProcess(metrics: Metrics, eventLoop: Pick<EventLoopWatch, "p99Ms">): void {
  metrics.total("process_cpu_seconds_total", "CPU time of the main process", () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  metrics.gauge("process_resident_memory_bytes", "Resident memory of the main process", () =>
    process.memoryUsage.rss(),
  );
  metrics.gauge("process_heap_bytes", "JavaScript heap in use", () => process.memoryUsage().heapUsed);
  metrics.gauge("process_start_time_seconds", "Start time of the process, in seconds since the Unix epoch", () =>
    Math.round(performance.timeOrigin / 1000),
  );
  metrics.gauge(
    "weir_event_loop_delay_p99_seconds",
    "Delay of the event loop, 99th percentile of the last 10 s",
    () => eventLoop.p99Ms() / 1000,
  );
}

export function measureConnections(metrics: Metrics, connections: Pick<ConnectionLimits, "open" | "refused">): void {
  metrics.gauge("weir_http_connections", "HTTP connections", () => connections.open);
  metrics.total(
    "weir_http_connections_refused_total",
    "HTTP connections closed immediately because their client, or all clients together, had reached the limit",
    () => connections.refused,
  );
}

export function measureUploads(metrics: Metrics, uploads: Pick<UploadServer, "underWay" | "waiting">): void {
  metrics.gauge("weir_uploads_under_way", "Current requests that upload a file", () => uploads.underWay);
  metrics.gauge(
    "weir_uploads_waiting",
    "Complete files in the spool that are not in the object store yet",
    () => uploads.waiting,
  );
}

export function measureDatabase(metrics: Metrics, database: Pick<Database<unknown>, "connections">): void {
  metrics.gauge("weir_database_connections", "Connections of all pools", () => database.connections().open);
  metrics.gauge("weir_database_connections_idle", "Idle connections", () => database.connections().idle);
  metrics.gauge("weir_database_waiting", "Statements that wait for a connection", () => database.connections().waiting);
}

export function measureDomains(metrics: Metrics, { figures }: Pick<Domains, "figures">): void {
  metrics.gauge("weir_facts_waiting", "Media facts queued for the database", () => figures().factsWaiting);
  metrics.total("weir_facts_dropped_total", "Facts dropped because the queue was full", () => figures().factsDropped);
  metrics.gauge("weir_feed_readers", "Readers of event feeds", () => figures().feed.readers);
  metrics.gauge("weir_feed_streams", "Streams whose event feed is read", () => figures().feed.subjects);
  metrics.total(
    "weir_feed_readers_too_slow_total",
    "Readers of event feeds disconnected because they were too slow",
    () => figures().feed.tooSlow,
  );
}

export function measureMedia(metrics: Metrics, { figures }: Pick<MediaRole, "figures">): void {
  metrics.gauge(
    "weir_streams_live",
    "Streams with a session on this node, including those whose broadcaster is reconnecting",
    () => figures().sessions,
  );
  metrics.gauge("weir_publishers", "Publishers connected", () => figures().publishers);
  metrics.gauge("weir_webrtc_viewers", "Viewers over WebRTC", () => figures().webrtcViewers);
  metrics.total("weir_ingest_bytes_total", "Bytes of media received", () => figures().bytesReceived);
  metrics.total(
    "weir_sent_bytes_total",
    "Bytes of live media and playlists sent to viewers",
    () => figures().bytesSent,
  );
  metrics.totals("weir_sent_total", "Live playlists, parts and segments sent to viewers", "kind", () => figures().sent);
  metrics.total(
    "weir_media_requests_total",
    "Requests for playlists, parts, segments and recordings",
    () => figures().requests,
  );
  metrics.gauge(
    "weir_waiting_requests",
    "Blocked requests for playlists and parts that do not exist yet",
    () => figures().waitingRequests,
  );
  metrics.gauge("weir_media_pages_in_use", "Pages of 32 KiB in use by live windows", () => figures().pages.pagesInUse);
  metrics.gauge("weir_media_pages_free", "Free pages of 32 KiB for live windows", () => figures().pages.pagesFree);
  metrics.gauge("weir_ladders", "Streams that are being transcoded", () => figures().ladders);
  metrics.gauge(
    "weir_transcode_children",
    "Transcoder processes, including the spare one",
    () => figures().transcodeChildren,
  );
  metrics.gauge(
    "weir_transcode_lag_seconds",
    "How far the slowest rungs are behind their source",
    () => figures().transcodeLagMs / 1000,
  );
  metrics.gauges("weir_targets", "Multistream targets of live streams", "state", () => figures().targets);
  metrics.total(
    "weir_target_bytes_total",
    "Bytes accepted by multistream targets",
    () => figures().sentToTargets.bytes,
  );
  metrics.total(
    "weir_target_skipped_seconds_total",
    "Media dropped for multistream targets that were too slow",
    () => figures().sentToTargets.skippedMs / 1000,
  );
  metrics.gauge(
    "weir_recording_chapters_waiting",
    "Chapters of recordings that wait in the spool for the object store",
    () => figures().unsealedChapters,
  );
  metrics.gauge("weir_disk_free_bytes", "Free space on the disk of the data folder", () => figures().diskFreeBytes);
}

/** Requests to the API and the dashboard. */
export function requestCounter(metrics: Metrics): LabelledCounter {
  return metrics.counter("weir_http_requests_total", "Requests to the API and the dashboard", [
    "method",
    "route",
    "status",
  ]);
}

export function outboundCounter(metrics: Metrics): LabelledCounter {
  const help = "Calls of customers' addresses, webhooks and access checks, by class of status or what was in the way";
  return metrics.counter("weir_outbound_calls_total", help, ["outcome"]);
}
