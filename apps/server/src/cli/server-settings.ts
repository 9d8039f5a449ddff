/** For commands that work on a server's data, on its machine and with its settings in the environment. */
export async function settingsOfServer() {
  const [{ readConfig }, { systemClock }, { createLog }] = await Promise.all([
    import("../roles/config.ts"),
    import("../platform/clock.ts"),
    import("../platform/log.ts"),
  ]);
  const log = createLog({ level: "warn", readable: process.stderr.isTTY === true }, process.stderr);
  return { config: readConfig(process.env), clock: systemClock, log };
}

export const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
