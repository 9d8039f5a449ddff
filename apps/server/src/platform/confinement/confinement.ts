/** Starts a program with fewer rights than this process has. */
export interface Confinement {
  /** Words before the program on its command line; empty if no right can be removed. */
  readonly prefix: readonly string[];
  /** The rights that each part removes, in words for the operator. */
  readonly bounds: readonly string[];
}

export const UNCONFINED: Confinement = { prefix: [], bounds: [] };

export interface ConfinementNeeds {
  /** Folders to hide from the program. They must exist. */
  readonly hidden: readonly string[];
  /** Groups that the program needs, for devices. */
  readonly groups: readonly number[];
}

/** No distribution assigns this id. systemd's dynamic users end below it; `nobody` lies above and may own the embedded database. */
const DECODER_UID = "65530";

/** Mounts an empty folder over each hidden folder. The program cannot remove it, because it has no capabilities. */
const HIDE = `while [ "$1" != -- ]; do mount -t tmpfs -o ro,size=4k,mode=000 weir "$1" || exit 125; shift; done; shift;`;
/** A /proc for its own process namespace; containers allow only an empty one here. */
const OWN_PROC = "mount -t proc proc /proc 2>/dev/null || mount -t tmpfs -o ro,size=4k weir /proc || exit 125;";
/** All mounts; `mountinfo` writes a space as \\040. If a mount cannot be changed, the probe finds out what that leaves open. */
const READ_ONLY =
  'while read -r _ _ _ _ at _; do mount -o remount,bind,ro "$(printf %b "$at")" 2>/dev/null; done < /proc/self/mountinfo;';
/** No files written, no core dumps, 256 files, 4 GiB of data. CPU time is unlimited, because a stream may run for months. */
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
      // `unshare` stays as the parent of the process namespace, so it must not outlive this process either.
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
