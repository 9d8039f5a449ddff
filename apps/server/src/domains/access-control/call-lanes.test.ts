import { expect, it } from "vitest";
import { CallLanes } from "./call-lanes.ts";

const full = "full";

function gated() {
  const begun: string[] = [];
  const finish: (() => void)[] = [];
  const call = (name: string) => () => {
    begun.push(name);
    return new Promise<string>((resolve) => finish.push(() => resolve(name)));
  };
  return { begun, finish, call };
}

it("so many run, so many wait in their order, the rest is told at once", async () => {
  const { begun, finish, call } = gated();
  const lanes = new CallLanes({ atATime: 2, maxWaiting: 2 });
  const answers = ["a", "b", "c", "d", "e"].map((name) => lanes.run("receiver", call(name), full));
  expect(await answers[4]).toBe("full");
  expect(begun).toEqual(["a", "b"]);
  finish[1]?.();
  expect(await answers[1]).toBe("b");
  await expect.poll(() => begun).toEqual(["a", "b", "c"]);
  finish[0]?.();
  finish[2]?.();
  await expect.poll(() => begun).toEqual(["a", "b", "c", "d"]);
  finish[3]?.();
  expect(await Promise.all(answers)).toEqual(["a", "b", "c", "d", "full"]);
});

it("one receiver holds up no other", async () => {
  const { begun, call } = gated();
  const lanes = new CallLanes({ atATime: 1, maxWaiting: 1 });
  for (const name of ["a", "b"]) void lanes.run("slow", call(name), full);
  void lanes.run("other", call("c"), full);
  expect(begun).toEqual(["a", "c"]);
});

it("a call that fails gives its place to the next", async () => {
  const lanes = new CallLanes({ atATime: 1, maxWaiting: 1 });
  const failing = lanes.run("receiver", () => Promise.reject(new Error("broken")), full);
  const next = lanes.run("receiver", async () => "done", full);
  await expect(failing).rejects.toThrow("broken");
  expect(await next).toBe("done");
  expect(await lanes.run("receiver", async () => "again", full)).toBe("again");
});
