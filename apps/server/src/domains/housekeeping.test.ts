import { expect, it } from "vitest";
import { ended, kit, publish, read, setUpLiveRig, tell } from "./live-test-rig.ts";

setUpLiveRig();

it("an object store that hangs while a deleted asset is removed holds up no reconnect window", async () => {
  const { asset } = (await kit.call("POST", "/api/asset/request-upload", { name: "clip" })).json();
  await kit.call("DELETE", `/api/asset/${asset.id}`);
  await kit.db.updateTable("asset").set({ purge_at: 1 }).where("id", "=", asset.id).execute();
  const hung = Promise.withResolvers<void>();
  kit.asked.hangs = hung.promise;
  const tick = async () => {
    void kit.domains.housekeeping.tick();
    return (await read()).isActive;
  };
  await tick();
  const { grant } = await publish();
  await tell(kit.domains, ended(grant, "source-lost"));
  expect((await read()).isActive).toBe(true);
  kit.clock.advance(60_000);
  await expect.poll(tick).toBe(false);
  hung.resolve();
});
