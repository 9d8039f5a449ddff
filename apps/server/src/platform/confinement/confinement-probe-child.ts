import { readFileSync } from "node:fs";
import { connect } from "node:net";

/** Tries what a confined program should not be able to do, and tells what it could. */
const [file = "", port = ""] = process.argv.slice(2);
const readsFiles = canRead(file);
const socket = connect({ host: "127.0.0.1", port: Number(port) });
socket.on("connect", () => tell(true)).on("error", () => tell(false));

function tell(reachesNetwork: boolean): void {
  process.stdout.write(JSON.stringify({ readsFiles, reachesNetwork }));
  socket.destroy();
}

function canRead(path: string): boolean {
  try {
    readFileSync(path);
    return true;
  } catch {
    return false;
  }
}
