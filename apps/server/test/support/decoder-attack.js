// What somebody tries who has taken over a decoder. Put into a copy of the server by decoder-attacks.hostile.ts; it shares no code with the server.
import { spawnSync } from "node:child_process";
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { connect } from "node:net";

/** Each resolves or returns where it succeeds, and throws where it does not. */
const ATTACKS = {
  "lists the data folder": ({ dataFolder }) => {
    if (readdirSync(dataFolder).length === 0) throw new Error("it is empty");
  },
  "reads the spool": ({ dataFolder }) => readdirSync(`${dataFolder}/spool`),
  "reads the server's environment": ({ serverPid }) => readFileSync(`/proc/${serverPid}/environ`),
  "reads the server's memory": ({ serverPid }) => closeSync(openSync(`/proc/${serverPid}/mem`, "r")),
  "could end the server": ({ serverPid }) => process.kill(serverPid, 0),
  "changes the server's code": ({ code }) => closeSync(openSync(code, "r+")),
  "reaches the API": ({ httpPort }) => connected({ host: "127.0.0.1", port: httpPort }),
  "reaches RTMP": ({ rtmpPort }) => connected({ host: "127.0.0.1", port: rtmpPort }),
  "reaches the database": ({ database }) => connected({ path: database }),
  "sees a secret in its environment": () => {
    if (!Object.keys(process.env).some((name) => /WEIR|DATABASE|KEY|SECRET/.test(name))) throw new Error("none");
  },
  "got an open file of the server": ({ dataFolder }) => {
    const links = readdirSync("/proc/self/fd").map((fd) => linkOf(`/proc/self/fd/${fd}`));
    if (!links.some((link) => link.startsWith(dataFolder))) throw new Error("none");
  },
  "becomes root": () => {
    const before = process.getuid();
    process.setuid(0);
    if (before === 0) throw new Error("it was before");
  },
  "takes away what hides the data folder": ({ dataFolder }) => {
    const { status, error } = spawnSync("/bin/umount", [dataFolder]);
    if (status !== 0) throw error ?? new Error("refused");
    if (readdirSync(dataFolder).length === 0) throw new Error("it is empty");
  },
  "opens a thousand files": () => {
    const files = [];
    try {
      while (files.length < 1_000) files.push(openSync("/dev/null", "r"));
    } finally {
      for (const file of files) closeSync(file);
    }
  },
};

export async function attack(goals) {
  const succeeded = [];
  for (const [name, tried] of Object.entries(ATTACKS)) {
    try {
      await tried(goals);
      succeeded.push(name);
    } catch {
      // Refused.
    }
  }
  return succeeded;
}

function connected(to) {
  return new Promise((resolve, reject) => {
    const socket = connect(to, () => {
      socket.destroy();
      resolve();
    });
    socket.once("error", reject);
  });
}

function linkOf(path) {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}
