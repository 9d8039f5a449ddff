// @vitest-environment happy-dom
import type { ServerSettings } from "@weir/contract";
import { expect, it } from "vitest";
import { answerWith, render, shown, untilShown } from "../../shared/testing/render.tsx";
import { ServerPanels } from "./server-panels.tsx";

const node = {
  ...{ region: "local", roles: ["media"], state: "serving" as const },
  ...{ joinedAt: 0, lastSeen: 0, isThis: false },
};

it("processes of two builds are shown with their versions while one is replaced by the other", async () => {
  const nodes: ServerSettings["nodes"] = [
    { ...node, id: "1", name: "aaaa", version: "1.0.0" },
    { ...node, id: "2", name: "bbbb", version: "1.1.0" },
    { ...node, id: "3", name: "cccc" },
  ];
  answerWith(() => Response.json({ version: "1.0.0", settings: [], nodes }));
  await render(<ServerPanels />);
  await untilShown("Process cccc");
  expect(shown().match(/media in local(?:, Weir [\d.]+)?/g)).toEqual([
    "media in local, Weir 1.0.0",
    "media in local, Weir 1.1.0",
    "media in local",
  ]);
});
