/** How to start a program with less than this process has. */
export interface Confinement {
  /** The words before the program on its command line; empty where nothing can be taken away. */
  readonly prefix: readonly string[];
  /** The rights that each part takes away, in words for the operator. */
  readonly bounds: readonly string[];
}

export const UNCONFINED: Confinement = { prefix: [], bounds: [] };

export interface ConfinementNeeds {
  /** Folders that the program must not see. They must exist. */
  readonly hidden: readonly string[];
  /** Groups that it needs, for devices. */
  readonly groups: readonly number[];
}

/** No distribution gives it to anybody; systemd's dynamic users end below it, `nobody` lies above and may own the embedded database. */
const DECODER_UID = "65530";

/** Over each hidden folder an empty one is put, which the program cannot take away: it has no capabilities. */
const HIDE = `while [ "$1" != -- ]; do mount -t tmpfs -o ro,size=4k,mode=000 weir "$1" || exit 125; shift; done; shift;`;
/** Of a process namespace of its own; in containers only an empty one may be put there. */
const OWN_PROC = "mount -t proc proc /proc 2>/dev/null || mount -t tmpfs -o ro,size=4k weir /proc || exit 125;";
/** Everything that is mounted; `mountinfo` writes a space as \\040. Where a mount cannot be changed, the probe finds out what that leaves. */
const READ_ONLY =
  'while read -r _ _ _ _ at _; do mount -o remount,bind,ro "$(printf %b "$at")" 2>/dev/null; done < /proc/self/mountinfo;';
/** No file is written and no core dumped; 256 files; 4 GiB of data. CPU time has no limit: a stream may run for months. */
const LIMITS = 'ulimit -c 0; ulimit -f 0; ulimit -n 256; ulimit -d 4194304 2>/dev/null; exec "$@"';

const NO_PRIVILEGES = ["--no-new-privs", "--pdeathsig=KILL"];
const NO_CAPABILITIES = ["--inh-caps=-all", "--bounding-set=-all"];
const LIMITED = ["/bin/sh", "-c", LIMITS, "sh"];
const FILES_AND_MEMORY = "limits of memory and files";

/** The confinements to try on this machine, the strongest first. The last one works wherever there is a shell. */
export function confinements({ hidden, groups }: ConfinementNeeds): Confinement[] {
  const plain = { prefix: LIMITED, bounds: [FILES_AND_MEMORY] };
  if (process.platform !== "linux") return [plain];
  const noNewPrivileges = {
    prefix: ["setpriv", ...NO_PRIVILEGES, ...LIMITED],
    bounds: ["no new privileges", FILES_AND_MEMORY],
  };
  const ownUser = {
    prefix: [
      // `unshare` stays as the parent of the process namespace: it must not outlive this process either.
      ...["setpriv", "--pdeathsig=KILL"],
      ...["unshare", "--user", "--map-root-user", "--mount", "--net", "--ipc", "--pid", "--fork", "--kill-child"],
      ...["/bin/sh", "-c", `${HIDE} ${READ_ONLY} ${OWN_PROC} exec "$@"`, "sh", ...hidden, "--"],
      ...["setpriv", ...NO_CAPABILITIES, ...NO_PRIVILEGES, ...LIMITED],
    ],
    bounds: [
      ...["no network", "the data folder hidden", "no file to be changed", "no other processes in sight"],
      ...noNewPrivileges.bounds,
    ],
  };
  if (process.getuid?.() !== 0) return [ownUser, noNewPrivileges, plain];

  const ids = [`--reuid=${DECODER_UID}`, `--regid=${DECODER_UID}`];
  const otherUser = {
    prefix: [
      ...["setpriv", ...ids, groups.length > 0 ? `--groups=${groups.join()}` : "--clear-groups"],
      ...[...NO_CAPABILITIES, ...NO_PRIVILEGES, ...LIMITED],
    ],
    bounds: [`a user of their own (${DECODER_UID})`, ...noNewPrivileges.bounds],
  };
  const otherUserAlone = {
    prefix: [
      ...["unshare", "--mount", "--net", "--ipc"],
      ...["/bin/sh", "-c", `${HIDE} exec "$@"`, "sh", ...hidden, "--"],
      ...otherUser.prefix,
    ],
    bounds: ["no network", "the data folder hidden", ...otherUser.bounds],
  };
  return [otherUserAlone, otherUser, ownUser, noNewPrivileges, plain];
}
