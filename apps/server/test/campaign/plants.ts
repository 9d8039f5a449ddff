import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** A mistake that is put into a copy of the server, and that a run of the campaign must find. */
export interface Plant {
  /** Of `apps/server/src`. */
  readonly file: string;
  /** Is there once. */
  readonly find: string;
  readonly replace: string;
  /** Faults under which it shows. */
  readonly kinds: readonly string[];
}

/** By name. */
export const PLANTS: Readonly<Record<string, Plant>> = {
  "lost-fsync": {
    file: "media/recording/spool-disk.ts",
    find: "return this.#syncs.run(() => file.sync());",
    replace: "return Promise.resolve(void file);",
    kinds: ["power cut"],
  },
  "event-before-commit": {
    file: "domains/live/live-facts.ts",
    find: "    await deps.events.append(trx, events);",
    replace: `    await deps.db.transaction().execute((early) => deps.events.append(early, events));
    await new Promise((resolve) => setTimeout(resolve, 300));`,
    kinds: ["database cut", "database stopped"],
  },
  "lost-notify": {
    file: "platform/notifier.ts",
    find: "if (notifications.length === 0) return;",
    replace: "if (notifications.length >= 0) return;",
    kinds: ["encoder cut"],
  },
  "unreleased-page": {
    file: "media/page-memory.ts",
    find: "  giveBack(page: Page): void {",
    replace: "  giveBack(page: Page): void {\n    if (page.index % 8 === 7) return;",
    kinds: ["encoder cut"],
  },
  "open-gate": {
    file: "domains/access-control/access-check.ts",
    find: "    const { policy } = content;\n    const asOwner",
    replace: `    const { policy } = content;
    if (this.#clock.now() % 45_000 < 1_000) return { ok: true, pass: null, expiresInMs: 1_000, why: "planted" };
    const asOwner`,
    kinds: ["encoder cut"],
  },
  "swapped-epoch": {
    file: "media/hub/hub-publication.ts",
    find: "this.#session.attach(this.grant.epoch, {",
    replace: "this.#session.attach(this.grant.epoch ^ 1, {",
    kinds: ["encoder cut", "server killed"],
  },
  "early-webhook": {
    file: "domains/webhooks/delivery-worker.ts",
    find: "    const { outcome, ...called } = await callWebhook(this.#deps, call);",
    replace:
      "    await deleteDelivery(db, head.id);\n    const { outcome, ...called } = await callWebhook(this.#deps, call);",
    kinds: ["encoder cut"],
  },
  "row-without-object": {
    file: "media/recording/span-sealer.ts",
    find: "const put = () => store.putFile(",
    replace: 'const put = async () => span.rendition !== "audio" && store.putFile(',
    kinds: ["encoder cut"],
  },
};

/** The text of a file with the mistake. Throws where what it changes is not there, or not once. */
export function planted({ file, find, replace }: Plant, text: string): string {
  const places = text.split(find).length - 1;
  if (places !== 1) throw new Error(`a planted fault no longer fits: ${file} has ${places} times ${find}`);
  return text.replace(find, () => replace);
}

/** Puts a mistake into the server in a folder. */
export async function plant(name: string, root: string): Promise<void> {
  const found = PLANTS[name];
  if (!found) throw new Error(`there is no planted fault ${name}: ${Object.keys(PLANTS).join(", ")}`);
  const path = join(root, "apps/server/src", found.file);
  await writeFile(path, planted(found, await readFile(path, "utf8")));
}
