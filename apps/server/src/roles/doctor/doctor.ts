import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Clock } from "../../platform/clock.ts";
import { takeLock } from "../../platform/folder-lock.ts";
import { StartupError } from "../../platform/startup-error.ts";
import { type Config, readConfig } from "../config.ts";
import { checkAddress } from "./check-address.ts";
import { checkCertificate } from "./check-certificate.ts";
import { checkClock } from "./check-clock.ts";
import { checkDataFolder } from "./check-data-folder.ts";
import { lookAtDatabase } from "./check-database.ts";
import { checkEncoder, checkLibsrt } from "./check-media.ts";
import { checkPorts, checkUdp } from "./check-ports.ts";
import { checkSettings } from "./check-settings.ts";
import { checkStore } from "./check-store.ts";
import { checkTurn } from "./check-turn.ts";
import { type Finding, problem } from "./finding.ts";

export type { Finding } from "./finding.ts";

/** What is wrong with this machine and these settings, for a server that runs here or is to. Changes nothing. */
export async function examine(env: NodeJS.ProcessEnv, clock: Clock): Promise<Finding[]> {
  let config: Config;
  try {
    config = readConfig(env);
  } catch (error) {
    if (error instanceof StartupError) return [problem("settings", error.message)];
    throw error;
  }
  const patient = { config, env, clock, isRunning: await isRunning(config) };
  const first = [await checkSettings(patient), await checkDataFolder(patient)];
  // One after the other, as both need the HTTP port.
  const ports = [...(await checkPorts(patient)), ...(await checkUdp(patient)), ...(await checkAddress(patient))];
  const [database, ...others] = await Promise.all([
    lookAtDatabase(patient),
    checkCertificate(patient),
    checkStore(patient),
    checkEncoder(patient),
    checkLibsrt(patient),
    checkTurn(patient),
  ]);
  const clockFindings = await checkClock(patient, database.aheadMs);
  return [...first.flat(), ...ports, ...database.findings, ...others.flat(), ...clockFindings];
}

/** Whether a server holds the data folder. */
async function isRunning({ dataDir }: Config): Promise<boolean> {
  const path = join(resolve(dataDir), "weir.lock");
  if (!existsSync(path)) return false;
  // Another user's folder is a finding of its own.
  const lock = await takeLock(path).catch(() => undefined);
  await lock?.release();
  return lock === null;
}
