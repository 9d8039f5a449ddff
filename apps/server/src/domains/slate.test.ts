import { expect, it } from "vitest";
import { ended, kit, publish, segment, setUpLiveRig, stream, tell } from "./live-test-rig.ts";

setUpLiveRig();

const set = (body: object) => kit.call("PATCH", `/api/stream/${stream.id}`, body);
const shown = async () => (await kit.call("GET", `/api/stream/${stream.id}`)).json();

it("viewers get a slate from the next session on, until it is off again", async () => {
  expect(await shown()).not.toHaveProperty("slate");
  expect((await set({ slate: "last-picture" })).statusCode).toBe(204);
  expect(await shown()).toMatchObject({ slate: "last-picture" });
  const { grant, start } = await publish();
  expect(start.slate).toBe("last-picture");
  await tell(kit.domains, segment(grant, start.sessionId, 1), ended(grant, "clean-stop"));
  expect((await set({ slate: "off" })).statusCode).toBe(204);
  expect(await shown()).not.toHaveProperty("slate");
  expect((await publish()).start.slate).toBe("off");
});

it("no other word is a slate", async () => {
  const refused = await set({ slate: "image" });
  expect(refused.statusCode).toBeGreaterThanOrEqual(400);
  expect(await shown()).not.toHaveProperty("slate");
});
