import { request } from "node:http";
import { describe, expect, it } from "vitest";
import { Listener } from "../listener.ts";
import { silentLog } from "../log.ts";
import { Metrics } from "./metrics.ts";
import { serveMetrics } from "./metrics-server.ts";

const LOOPBACK = "127.0.0.1";

describe("Metrics", () => {
  it("reads plain numbers when somebody looks, and not before", async () => {
    const metrics = new Metrics();
    let value = 1;
    let reads = 0;
    metrics.gauge("viewers", "Viewers", () => {
      reads++;
      return value;
    });
    metrics.total("bytes_total", "Bytes", () => value * 10);
    metrics.totals("answers_total", "Answers", "outcome", () => ({ good: value, bad: 0 }));
    expect(reads).toBe(0);
    value = 4;
    const text = await metrics.text();
    expect(text).toContain("\nviewers 4\n");
    expect(text).toContain("\nbytes_total 40\n");
    expect(text).toContain('answers_total{outcome="good"} 4');
    expect(text).toContain('answers_total{outcome="bad"} 0');
    await metrics.text();
    expect(await metrics.text()).toContain("\nbytes_total 40\n");
  });

  it("names that an attacker chooses do not become series without end", async () => {
    const metrics = new Metrics();
    const counter = metrics.counter("requests_total", "Requests", ["method", "route"]);
    for (let i = 0; i < 10_000; i++) counter.add(["GET", `/${i}`]);
    counter.add(["GET", "/0"]);
    const series = (await metrics.text()).split("\n").filter((line) => line.startsWith("requests_total{"));
    expect(series.length).toBe(301);
    expect(series).toContain('requests_total{method="other",route="other"} 9700');
    expect(series).toContain('requests_total{method="GET",route="/0"} 2');
  });

  it("distributions have buckets", async () => {
    const metrics = new Metrics();
    const latency = metrics.distribution("latency_seconds", "Latency", [0.1, 1]);
    for (const value of [0.05, 0.5, 5]) latency.observe(value);
    const text = await metrics.text();
    for (const [le, count] of [
      ["0.1", 1],
      ["1", 2],
      ["+Inf", 3],
    ])
      expect(text).toContain(`latency_seconds_bucket{le="${le}"} ${count}`);
  });
});

describe("serveMetrics", () => {
  it("answers /metrics and nothing else", async () => {
    const metrics = new Metrics();
    metrics.gauge("viewers", "Viewers", () => 3);
    const listener = new Listener("metrics", LOOPBACK, 0);
    const server = await serveMetrics(metrics, listener, silentLog);
    const url = `http://${LOOPBACK}:${listener.port}`;
    const answer = await fetch(`${url}/metrics`);
    expect(answer.headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(await answer.text()).toContain("viewers 3");
    expect((await fetch(`${url}/`)).status).toBe(404);
    expect((await fetch(`${url}/metrics`, { method: "POST" })).status).toBe(405);
    await server.close();
  });

  it.runIf(process.platform === "linux")("is not reached by the machine's other addresses", async () => {
    const listener = new Listener("metrics", LOOPBACK, 0);
    const server = await serveMetrics(new Metrics(), listener, silentLog);
    // Every address of 127.0.0.0/8 is this machine's own: a listener on all addresses would answer here.
    const code = await new Promise<string | undefined>((resolve) => {
      const asked = request({ host: "127.0.0.2", port: listener.port, path: "/metrics" }, () => resolve("answered"));
      asked.on("error", (error: NodeJS.ErrnoException) => resolve(error.code));
      asked.end();
    });
    expect(code).toBe("ECONNREFUSED");
    await server.close();
  });

  it("a port that is taken is no failure", async () => {
    const listener = new Listener("metrics", LOOPBACK, 0);
    const first = await serveMetrics(new Metrics(), listener, silentLog);
    const second = await serveMetrics(new Metrics(), listener, silentLog);
    expect(second.problem).toContain(`no metrics: metrics port ${listener.port} on ${LOOPBACK} is in use`);
    await second.close();
    await first.close();
  });
});
