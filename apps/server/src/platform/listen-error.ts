import { once } from "node:events";
import { createServer } from "node:net";
import { StartupError } from "./startup-error.ts";

/** Throws the error that a listener would throw on this port. Run it before a start creates anything; port 0 is always free. */
export async function checkPort(protocol: string, host: string, port: number, variable: string): Promise<void> {
  if (port === 0) return;
  const server = createServer();
  try {
    server.listen({ host, port });
    await once(server, "listening");
  } catch (error) {
    throw explainListen(error as NodeJS.ErrnoException, protocol, host, port, variable);
  } finally {
    server.close();
  }
}

/** The reason why a listener could not open, in one line that names the setting to change. */
export function explainListen(
  error: NodeJS.ErrnoException,
  protocol: string,
  host: string,
  port: number,
  variable: string,
): Error {
  const where = `${protocol} port ${port} on ${host}`;
  if (error.code === "EADDRINUSE")
    return new StartupError(`${where} is in use by another program: end it or set ${variable}`);
  if (error.code === "EACCES")
    return new StartupError(`${where} needs a privilege that this user lacks: set ${variable} to 1024 or more`);
  if (error.code === "EADDRNOTAVAIL")
    return new StartupError(`${host} is not an address of this machine: set WEIR_HOST`);
  return error;
}
