import { randomUUID } from "node:crypto";
import { rmSync, statSync, writeFileSync } from "node:fs";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { join } from "node:path";
import type { FastifyInstance } from "fastify";
import type { Clock } from "../clock.ts";
import { errorBody } from "./error-body.ts";

const PREFIX = "/.weir-doctor/";
const NONCE = /^[0-9a-f-]{36}$/;
/** Longer than a doctor waits. One that was killed leaves its file behind. */
const VALID_MS = 60_000;
const ROUTE_HEADERS = ["host", "x-forwarded-for", "x-forwarded-proto", "x-forwarded-host"] as const;

/** A request as it arrived at this machine. */
export interface Arrived {
  readonly headers: Pick<IncomingHttpHeaders, (typeof ROUTE_HEADERS)[number]>;
  readonly address: string;
  readonly port: number;
}

export function arrivedOf({ headers, socket }: IncomingMessage): Arrived {
  const shown = ROUTE_HEADERS.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]]));
  return { headers: Object.fromEntries(shown), address: socket.remoteAddress ?? "", port: socket.remotePort ?? 0 };
}

/** A path that nobody guesses. */
export const newDoctorPath = (): string => PREFIX + randomUUID();

/**
 * Tells `weir doctor` how its request arrived, so that it sees what a proxy on the way does. Others get 404: the doctor shows by a file that it may write to the
 * server's folder of sockets.
 */
export function addArrivalRoute(app: FastifyInstance, runFolder: string, clock: Clock): void {
  app.get<{ Params: { nonce: string } }>(`${PREFIX}:nonce`, async ({ params: { nonce }, raw }, reply) => {
    reply.header("cache-control", "no-store");
    const proof = NONCE.test(nonce) ? statSync(proofOf(runFolder, nonce), { throwIfNoEntry: false }) : undefined;
    if (!proof || Math.abs(clock.now() - proof.mtimeMs) > VALID_MS)
      return reply.code(404).send(errorBody({ code: "not-found", message: "there is nothing at this address" }));
    return arrivedOf(raw);
  });
}

/** Lets the running server answer at `path` while `work` runs. Throws if this user may not write to its folder. */
export async function provenTo<Result>(runFolder: string, path: string, work: () => Promise<Result>): Promise<Result> {
  const proof = proofOf(runFolder, path.slice(PREFIX.length));
  writeFileSync(proof, "", { mode: 0o600 });
  try {
    return await work();
  } finally {
    rmSync(proof, { force: true });
  }
}

const proofOf = (runFolder: string, nonce: string): string => join(runFolder, `doctor-${nonce}`);
