import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { startBroadcast } from "./support/broadcast.ts";
import { SMALL_LADDER } from "./support/transcoding.ts";
import { freePort, WeirProcess } from "./support/weir-process.ts";

test("a broadcast and its viewers appear in Prometheus metrics and OpenTelemetry traces, without names, ids or keys", async () => {
  const traces: string[] = [];
  const collector = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request.setEncoding("utf8")) text += chunk;
    if (request.url === "/v1/traces") traces.push(text);
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
  await new Promise<void>((resolve) => collector.listen(0, "127.0.0.1", resolve));
  const port = await freePort();
  const env = {
    WEIR_METRICS_PORT: String(port),
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
    OTEL_SERVICE_NAME: "weir-under-test",
  };
  await using weir = await WeirProcess.start({ env });
  const metrics = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  {
    await using broadcast = await startBroadcast(weir, { stream: { profiles: SMALL_LADDER } });
    const { id, streamKey, playbackId, name } = broadcast.stream;
    await expect.poll(metrics, { timeout: 20_000 }).toMatch(/^weir_transcode_latency_seconds_count [1-9]/m);
    await (await fetch(broadcast.hlsUrl)).text();
    const text = await metrics();
    for (const line of ["weir_streams_live 1", "weir_publishers 1", "weir_ladders 1", "weir_facts_dropped_total 0"])
      expect(text).toContain(`\n${line}\n`);
    expect(text).toContain('weir_publishes_total{protocol="rtmp",outcome="accepted"} 1');
    expect(text).toContain('weir_playback_checks_total{protocol="hls",outcome="allowed"} 1');
    for (const secret of [id, streamKey, playbackId, name]) expect(text).not.toContain(secret);
    await weir.stop();
    for (const step of ["publish.authorize", "publish.begin", "playback.open", "POST /api/stream", "weir-under-test"])
      expect(traces.join()).toContain(`"${step}"`);
    for (const secret of [id, streamKey, playbackId]) expect(traces.join()).not.toContain(secret);
  }
  collector.closeAllConnections();
  collector.close();
});
