import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { FastifyInstance, FastifyReply } from "fastify";
import { type Coding, codingFor } from "./content-coding.ts";
import { keepFiles } from "./kept-files.ts";

/** How long a page may go on with the script that a short name led to. */
const ALIAS_SECONDS = 300;

interface Script {
  readonly plain: Buffer;
  readonly br: Buffer | undefined;
  readonly gzip: Buffer | undefined;
}

export interface OpenScripts {
  readonly scripts: ReadonlyMap<string, Script>;
  /** File name by the short name, such as `player.js`, for the version that fits this server. */
  readonly current: ReadonlyMap<string, string>;
}

/** The scripts for pages of other sites that come with this server (`{name}-{version}.js` in `shipped`), and earlier ones that `folder` has kept. */
export async function openScripts(shipped: string, folder: string): Promise<OpenScripts> {
  const { names, current } = await keepFiles(shipped, folder);
  const read = async (name: string) => (names.includes(name) ? await readFile(join(folder, name)) : undefined);
  const scripts = new Map<string, Script>();
  for (const name of names.filter((any) => any.endsWith(".js"))) {
    const plain = await readFile(join(folder, name));
    scripts.set(name, { plain, br: await read(`${name}.br`), gzip: await read(`${name}.gz`) });
  }
  return { scripts, current };
}

class NoScript extends Error {
  readonly statusCode = 404;
  readonly code = "not-found";

  constructor(file: string) {
    super(`${file} is not among the scripts of this server: it has those of its own version and of the last ones`);
  }
}

/** `/{name}-{version}.js` for ever, and `/{name}.js`, which leads to the version that fits this server. Any page may load both. */
export function serveScripts(app: FastifyInstance, name: string, { scripts, current }: OpenScripts): void {
  app.get(`/${name}.js`, (_request, reply) => {
    const latest = current.get(`${name}.js`);
    if (latest === undefined) throw new NoScript(`${name}.js`);
    forAnyPage(reply).header("cache-control", `public, max-age=${ALIAS_SECONDS}`);
    return reply.redirect(`/${latest}`, 302);
  });
  app.get(`/${name}-:version`, (request, reply) => {
    const file = `${name}-${(request.params as { version: string }).version}`;
    const script = scripts.get(file);
    if (!script) throw new NoScript(file);
    const [coding, bytes] = encoded(script, codingFor(request.headers["accept-encoding"]));
    if (coding) reply.header("content-encoding", coding);
    forAnyPage(reply).headers({ "cache-control": "public, max-age=31536000, immutable", vary: "Accept-Encoding" });
    return reply.type("text/javascript; charset=utf-8").send(bytes);
  });
}

function encoded({ plain, br, gzip }: Script, coding: Coding): [Coding, Buffer] {
  if (coding === "br" && br) return ["br", br];
  return coding !== null && gzip ? ["gzip", gzip] : [null, plain];
}

const forAnyPage = (reply: FastifyReply): FastifyReply =>
  reply.headers({ "access-control-allow-origin": "*", "cross-origin-resource-policy": "cross-origin" });
