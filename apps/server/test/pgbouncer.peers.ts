import { connect } from "node:net";
import pg from "pg";
import { describe, expect, test } from "vitest";
import { startTemporaryPostgres } from "../src/platform/postgres/temporary-postgres-rig.ts";
import { FaultProxy } from "./support/fault-proxy.ts";
import { missingPgbouncer, Pgbouncer } from "./support/pgbouncer.ts";
import { startPublisher } from "./support/publisher.ts";
import { WeirProcess } from "./support/weir-process.ts";

const ROLES = ["api", "worker", "media"] as const;
/** Fewer than one process opens without it. */
const SERVER_CONNECTIONS = 4;

describe.skipIf(missingPgbouncer !== null)(
  `behind pgbouncer in transaction mode${missingPgbouncer ? `: ${missingPgbouncer}` : ""}`,
  () => {
    test("three processes share four connections: a stream is published, recorded, terminated from another process, and published again", async () => {
      await using closing = new AsyncDisposableStack();
      const postgres = await startTemporaryPostgres();
      closing.defer(() => postgres.close());
      const { host, port, user, database } = postgres.address;
      const line = closing.use(await FaultProxy.open(() => connect(`${host}/.s.PGSQL.${port}`)));
      const pooler = closing.use(
        await Pgbouncer.start({ host: "127.0.0.1", port: line.port, user, database }, SERVER_CONNECTIONS),
      );
      const env = {
        DATABASE_URL: `postgres://${user}@127.0.0.1:${pooler.port}/${database}`,
        DATABASE_DIRECT_URL: `postgres://${user}@127.0.0.1:${line.port}/${database}`,
      };
      const started: WeirProcess[] = [];
      for (const role of ROLES)
        started.push(closing.use(await WeirProcess.start({ env: { ...env, WEIR_ROLES: role } })));
      const [api, , media] = started as [WeirProcess, WeirProcess, WeirProcess];

      const { streams, sessions } = api.client;
      const { id, streamKey = "" } = await streams.create({ name: "pooled", profiles: [], record: true });
      const publish = () => startPublisher({ url: media.publishUrl(streamKey), seconds: 60, bitrateBps: 300_000 });
      const stateOf = async () => (await streams.get(id)).status.state;
      const first = await publish();
      closing.defer(() => first.kill());
      await expect.poll(stateOf, { timeout: 20_000 }).toBe("live");
      await expect.poll(async () => (await streams.get(id)).sourceSegments, { timeout: 20_000 }).toBeGreaterThan(3);

      // The command reaches the media process by LISTEN.
      const toldAt = Date.now();
      await streams.terminate(id);
      await first.ended;
      expect(Date.now() - toldAt).toBeLessThan(3_000);

      const again = await publish();
      closing.defer(() => again.kill());
      await expect.poll(stateOf, { timeout: 20_000 }).toBe("live");
      await again.stop();
      const recordings = async () => (await sessions.ofStream(id)).items.map(({ recordingStatus }) => recordingStatus);
      await expect.poll(recordings, { timeout: 60_000 }).toEqual(["ready", "ready"]);

      const client = new pg.Client({ host, port, user, database });
      await client.connect();
      const { rows } = await client.query<{ open: number }>(
        "select count(*)::int as open from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()",
      );
      await client.end();
      // Each process listens by one of its own.
      expect(rows[0]?.open).toBeLessThanOrEqual(SERVER_CONNECTIONS + ROLES.length);
    });
  },
);
