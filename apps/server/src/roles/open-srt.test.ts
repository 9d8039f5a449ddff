import { createSocket } from "node:dgram";
import { once } from "node:events";
import { expect, test } from "vitest";
import { SrtIngest } from "../media/ingest/index.ts";
import { IngestRig } from "../media/ingest/ingest-rig.ts";
import type { SrtListening } from "../media/srt/index.ts";
import { FakeChildren } from "../media/testing/fake-transcoder.ts";
import { Listener } from "../platform/listener.ts";
import { silentLog } from "../platform/log.ts";
import { ManualClock } from "../platform/manual-clock-rig.ts";
import { Metrics } from "../platform/metrics/metrics.ts";
import { Readiness } from "../platform/readiness.ts";
import { Secret } from "../platform/secret.ts";
import { openSrt } from "./open-srt.ts";

/** A start whose SRT process answers with `listening`. */
async function open(listening: SrtListening, port: number | null = 0) {
  const places: unknown[] = [];
  const opening = {
    config: { host: "localhost", srtPassphrase: new Secret("every0way0in") },
    listeners: { srt: port === null ? null : new Listener("SRT UDP", "127.0.0.1", port) },
    readiness: new Readiness(new ManualClock()),
    metrics: new Metrics(),
    warnings: [] as string[],
    log: silentLog,
  };
  const process = {
    listening,
    listen: async (place: unknown) => {
      places.push(place);
      return listening;
    },
  };
  const ingest = new SrtIngest({ publishing: new IngestRig().publishing, children: new FakeChildren() });
  const isOpen = await openSrt(opening, process, ingest);
  return { isOpen, places, warnings: opening.warnings, report: await opening.readiness.report() };
}

test("the port that SRT got is passed to its process, and readiness says that it is open", async () => {
  const { isOpen, places, warnings, report } = await open({ at: "listening" });
  expect(places).toEqual([{ host: "127.0.0.1", port: expect.any(Number), passphrase: "every0way0in" }]);
  expect(places).not.toEqual([expect.objectContaining({ port: 0 })]);
  expect([isOpen, warnings, report]).toEqual([true, [], { isReady: true, checks: { srt: "ok" } }]);
});

test("without libsrt everything else runs: the start and readiness name the package, and the process is ready", async () => {
  const { isOpen, warnings, report } = await open({ at: "no-library" });
  const problem = expect.stringMatching(/needs libsrt.*apt-get install libsrt1\.5-gnutls/);
  expect([isOpen, warnings, report]).toEqual([false, [problem], { isReady: true, checks: { srt: problem } }]);
});

test("a port that another program has is named, and the process is ready", async () => {
  const other = createSocket("udp4").bind(0, "127.0.0.1");
  await once(other, "listening");
  const { isOpen, places, warnings, report } = await open({ at: "listening" }, other.address().port);
  other.close();
  expect([isOpen, places, report.isReady]).toEqual([false, [], true]);
  expect(warnings).toEqual([expect.stringContaining("set WEIR_SRT_PORT; going on without it")]);
});

test("with the port off nothing is started", async () => {
  expect(await open({ at: "starting" }, null)).toMatchObject({ isOpen: false, places: [], warnings: [] });
});
