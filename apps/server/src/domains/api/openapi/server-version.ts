import { readFileSync } from "node:fs";

/** The version of this server, which is also that of its API's description. */
export const { version } = JSON.parse(readFileSync(new URL("../../../../package.json", import.meta.url), "utf8")) as {
  version: string;
};
