import { closeSync, openSync, readFileSync } from "node:fs";
import { connect } from "node:net";

/** Tries everything that a confined program should not be able to do, and reports what succeeded. */
const [file = "", port = ""] = process.argv.slice(2);
const readsFiles = canRead(file);
const changesCode = canOpenForWriting(import.meta.filename);
const socket = connect({ host: "127.0.0.1", port: Number(port) });
socket.on("connect", () => tell(true)).on("error", () => tell(false));

function tell(reachesNetwork: boolean): void {
  process.stdout.write(JSON.stringify({ readsFiles, changesCode, reachesNetwork }));
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

/** The server's own code. The probe writes nothing. */
function canOpenForWriting(path: string): boolean {
  try {
    closeSync(openSync(path, "r+"));
    return true;
  } catch {
    return false;
  }
}
