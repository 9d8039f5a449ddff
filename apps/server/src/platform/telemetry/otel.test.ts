import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../clock.ts";
import { createApp } from "../http/app.ts";
import { silentLog } from "../log.ts";
import { Metrics } from "../metrics/metrics.ts";
import { startOtel } from "./otel.ts";
import type { Tracing } from "./tracing.ts";

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: number };
}
interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes: readonly Attribute[];
  readonly status: { readonly code?: number; readonly message?: string };
}
interface Received {
  readonly path: string;
  readonly text: string;
}

/** A collector that keeps what it is sent. */
let collector: Server;
let received: Received[];
let metrics: Metrics;
let tracing: Tracing;

beforeEach(async () => {
  received = [];
  collector = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const text = (request.headers["content-encoding"] === "gzip" ? gunzipSync(body) : body).toString();
    received.push({ path: request.url ?? "", text });
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
  await new Promise<void>((resolve) => collector.listen(0, "127.0.0.1", resolve));
  metrics = new Metrics();
  const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  const attributes = { "cloud.region": "local" };
  tracing = startOtel({ endpoint, clock: systemClock, log: silentLog, metrics, attributes });
});

afterEach(async () => {
  collector.closeAllConnections();
  await new Promise((resolve) => collector.close(resolve));
});

const textOf = (path: string) => received.filter((one) => one.path === path).map(({ text }) => text);
const spans = (): Span[] =>
  textOf("/v1/traces").flatMap((text) =>
    JSON.parse(text).resourceSpans.flatMap((r: { scopeSpans: { spans: Span[] }[] }) =>
      r.scopeSpans.flatMap((s) => s.spans),
    ),
  );

describe("traces", () => {
  it("steps belong to the request that they are part of, and to the trace of who asks", async () => {
    const app = createApp({
      log: silentLog,
      openPrefixes: [],
      ownOrigin: () => "http://weir.test",
      observer: { tracing, requests: metrics.counter("requests_total", "Requests", ["method", "route", "status"]) },
    });
    app.get("/api/thing/:id", () => tracing.step("gate.ask", { protocol: "hls" }, async () => ({ ok: true })));
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    await app.inject({
      url: "/api/thing/secret-id?jwt=secret-token",
      headers: { traceparent, authorization: "Bearer secret-key" },
    });
    await app.inject({ url: "/nothing/secret-path" });
    await app.close();
    await tracing.close();

    const [step, request, unknown] = ["gate.ask", "GET /api/thing/:id", "GET none"].map((name) =>
      spans().find((span) => span.name === name),
    );
    expect(request).toMatchObject({ traceId: "0af7651916cd43dd8448eb211c80319c", parentSpanId: "b7ad6b7169203331" });
    expect(step).toMatchObject({ traceId: request?.traceId, parentSpanId: request?.spanId });
    expect(request?.attributes).toContainEqual({ key: "http.response.status_code", value: { intValue: 200 } });
    expect(unknown?.attributes).toContainEqual({ key: "http.response.status_code", value: { intValue: 404 } });
    // No identifier, key or token leaves with a trace.
    expect(textOf("/v1/traces").join()).not.toContain("secret");
    expect(textOf("/v1/traces")[0]).toContain('"weir"');
    expect(await metrics.text()).toContain('requests_total{method="GET",route="none",status="4xx"} 1');
  });

  it("a step that fails is marked, without the words of its error", async () => {
    const failing = tracing.step("gate.ask", {}, async () => Promise.reject(new RangeError("secret words")));
    await expect(failing).rejects.toThrow("secret words");
    await tracing.close();
    expect(spans()[0]).toMatchObject({ name: "gate.ask", status: { code: 2, message: "RangeError" } });
    expect(textOf("/v1/traces").join()).not.toContain("secret");
  });

  it.each(["", "00-00000000000000000000000000000000-b7ad6b7169203331-01", "nonsense"])(
    "a traceparent %j begins a trace of its own",
    async (traceparent) => {
      tracing.begin({}, { method: "GET", route: "/", traceparent }, () => {});
      const key = {};
      tracing.begin(key, { method: "GET", route: "/", traceparent }, () => {});
      tracing.end(key, 200);
      await tracing.close();
      expect(spans()).toHaveLength(1);
      expect(spans()[0]?.parentSpanId).toBeFalsy();
    },
  );
});

it("the metrics that Prometheus reads go to the collector as well", async () => {
  metrics.gauge("weir_viewers", "Viewers", () => 3);
  metrics.total("weir_sent_bytes_total", "Bytes", () => 4_000);
  metrics.counter("weir_calls_total", "Calls", ["outcome"]).add(["2xx"], 2);
  const latency = metrics.distribution("weir_latency_seconds", "Latency", [1, 2]);
  for (const value of [0.5, 1.5, 1.5, 9]) latency.observe(value);
  await tracing.close();
  const [text = ""] = textOf("/v1/metrics");
  const sent = JSON.parse(text).resourceMetrics[0].scopeMetrics.flatMap(
    (scope: { metrics: unknown[] }) => scope.metrics,
  );
  expect(sent).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        name: "weir_viewers",
        gauge: { dataPoints: [expect.objectContaining({ asDouble: 3 })] },
      }),
      expect.objectContaining({
        name: "weir_sent_bytes_total",
        unit: "By",
        sum: expect.objectContaining({ isMonotonic: true, dataPoints: [expect.objectContaining({ asDouble: 4_000 })] }),
      }),
      expect.objectContaining({
        name: "weir_calls_total",
        sum: expect.objectContaining({
          dataPoints: [
            expect.objectContaining({ asDouble: 2, attributes: [{ key: "outcome", value: { stringValue: "2xx" } }] }),
          ],
        }),
      }),
      expect.objectContaining({
        name: "weir_latency_seconds",
        unit: "s",
        histogram: expect.objectContaining({
          dataPoints: [
            expect.objectContaining({ count: 4, sum: 12.5, bucketCounts: [1, 2, 1], explicitBounds: [1, 2] }),
          ],
        }),
      }),
    ]),
  );
});

it("a collector that is away holds up neither a step nor the close", async () => {
  collector.closeAllConnections();
  await new Promise((resolve) => collector.close(resolve));
  const begun = performance.now();
  expect(await tracing.step("gate.ask", {}, async () => 1)).toBe(1);
  await tracing.close();
  expect(performance.now() - begun).toBeLessThan(3_000);
});
