import { readFileSync } from "node:fs";

const PAGE = new URL("../../../../docs/4-operate/README.md", import.meta.url);

/** The nginx configuration of *Operate → Behind a proxy*. */
export function documentedProxy(): string {
  const [, block] = /^## Behind a proxy\n[\s\S]*?^```nginx\n([\s\S]*?)^```$/m.exec(readFileSync(PAGE, "utf8")) ?? [];
  if (!block) throw new Error("Operate has no nginx block under Behind a proxy");
  return block;
}
