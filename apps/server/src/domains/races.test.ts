import type { Session } from "@weir/contract";
import { describe, expect, it } from "vitest";
import { authorize, ended, kit, now, publish, read, setUpLiveRig, stream, tell } from "./live-test-rig.ts";

/*
 * Hostile input 89: requests of the same moment happen in one order or the other, and leave nothing behind. The order that it was
 * is for the database to say; every round must end in one of the two.
 */

setUpLiveRig();

const ROUNDS = 8;
const setRecord = async (record: boolean) =>
  (await kit.call("PATCH", `/api/stream/${stream.id}`, { record })).statusCode;
const sessions = async (): Promise<Session[]> => (await kit.call("GET", `/api/session?parentId=${stream.id}`)).json();

describe("record, changed at the same moment as", () => {
  it("a broadcast begins: the session is as the stream is, or the change is refused", async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const wanted = !(await read()).record;
      const grant = await authorize();
      const begin = () => kit.domains.publishGate.begin(grant, now());
      const [status, start] =
        round % 2 === 0
          ? await Promise.all([setRecord(wanted), begin()])
          : ((await Promise.all([begin(), setRecord(wanted)])).reverse() as [
              number,
              Awaited<ReturnType<typeof begin>>,
            ]);
      expect([204, 400]).toContain(status);
      expect(start?.record).toBe(status === 204 ? wanted : !wanted);
      expect((await read()).record).toBe(start?.record);
      await tell(kit.domains, ended(grant, "clean-stop"));
    }
  });

  it("a broadcast ends: the session keeps what it began with", async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { grant, start } = await publish();
      const [status] = await Promise.all([setRecord(!start.record), tell(kit.domains, ended(grant, "clean-stop"))]);
      expect([204, 400]).toContain(status);
      const session = (await sessions()).find(({ id }) => id === start.sessionId);
      expect(session).toMatchObject({ record: start.record, isActive: false });
      expect((await read()).record).toBe(status === 204 ? !start.record : start.record);
    }
  });
});

describe("a stream that is deleted", () => {
  const remove = async () => (await kit.call("DELETE", `/api/stream/${stream.id}`)).statusCode;
  const orphans = () =>
    kit.db
      .selectFrom("session")
      .select("id")
      .where("stream_id", "=", stream.id)
      .where("ended_at", "is", null)
      .execute();

  it("at the moment a broadcast begins is not live, and has no open session", async () => {
    const grant = await authorize();
    const [status] = await Promise.all([remove(), kit.domains.publishGate.begin(grant, now())]);
    expect(status).toBe(204);
    expect(await orphans()).toEqual([]);
    expect(await kit.domains.publishGate.begin(grant, now())).toBeNull();
    expect(kit.asked.stops).toContainEqual({ streamId: stream.id, why: "deleted" });
  });

  it("while live stays so, whatever its publisher still tells", async () => {
    const { grant } = await publish();
    const answers = await Promise.all([
      remove(),
      kit.call("POST", `/api/stream/${stream.id}/rotate-key`),
      kit.call("PATCH", `/api/stream/${stream.id}`, { name: "late" }),
      remove(),
    ]);
    expect(answers.map((answer) => (typeof answer === "number" ? answer : answer.statusCode))).toEqual(
      expect.arrayContaining([204]),
    );
    await tell(kit.domains, { type: "source-back", streamId: stream.id, epoch: grant.epoch, at: now() });
    await tell(kit.domains, ended(grant, "source-lost"));
    expect(await orphans()).toEqual([]);
    const row = await kit.db.selectFrom("stream").selectAll().where("id", "=", stream.id).executeTakeFirstOrThrow();
    expect([row.state, row.session_id, row.deleted_at === null]).toEqual(["idle", null, false]);
  });
});
