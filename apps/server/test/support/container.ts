import { type ChildProcessWithoutNullStreams, execFile, spawn } from "node:child_process";
import { chownSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));
/** What podman lets a process call, from Debian's golang-github-containers-common. */
const SECCOMP = "/usr/share/containers/seccomp.json";
const MIRROR = "http://deb.debian.org/debian";
/** So that what is mounted below stays with the program. */
const OWN_MOUNTS = "unshare";
const NO_CAPABILITIES = { bounding: [], effective: [], permitted: [], inheritable: [], ambient: [] };
/** crun reads the groups of the machine before it starts without any, and refuses those of both kinds at once. */
const WITHOUT_GROUPS = 'mount -t tmpfs none /sys/fs/cgroup && exec crun --root "$0" --cgroup-manager=disabled "$@"';

const run = promisify(execFile);

/** What an image says of itself, as `docker inspect` shows it. */
interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly WorkingDir: string;
  readonly Healthcheck: { readonly Test: readonly string[] };
}

/**
 * An image of `deploy/container/Containerfile`, built by buildah on roots of mmdebstrap in place of a registry's images, and run by crun with the options of the
 * documents: read-only root, no capabilities, no new privileges, podman's system calls. Needs root.
 */
export class ContainerImage {
  readonly #folder: string;
  readonly #root: string;
  readonly config: ImageConfig;

  private constructor(folder: string, root: string, config: ImageConfig) {
    this.#folder = folder;
    this.#root = root;
    this.config = config;
  }

  static async build(): Promise<ContainerImage> {
    const folder = await mkdtemp(join(tmpdir(), "weir-container-"));
    try {
      await makeBases(folder);
      const context = join(folder, "context");
      mkdirSync(context);
      const { stdout: archive } = await run("npm", ["run", "--silent", "release"], { cwd: ROOT });
      copyFileSync(archive.trim(), join(context, "weir-0.0.0.tar.gz"));
      copyFileSync(join(ROOT, "deploy/container/Containerfile"), join(context, "Containerfile"));
      const { stdout: cache } = await run("npm", ["config", "get", "cache"]);
      const images = ["--build-arg", "BASE=localhost/base", "--build-arg", "RUNTIME=localhost/runtime"];
      const npm = ["--volume", `${cache.trim()}:/root/.npm`];
      await buildah(folder, [
        "bud",
        "--isolation",
        "chroot",
        "--format",
        "docker",
        ...images,
        ...npm,
        "-t",
        "weir",
        context,
      ]);
      const described = await buildah(folder, ["inspect", "--type", "image", "localhost/weir"]);
      const container = await buildah(folder, ["from", "localhost/weir"]);
      const root = await buildah(folder, ["mount", container]);
      return new ContainerImage(folder, root, JSON.parse(described).Docker.config);
    } catch (error) {
      await rm(folder, { recursive: true });
      throw error;
    }
  }

  /** A container on a folder of the machine as its `/data`, on the machine's own network. */
  container(name: string, dataFolder: string, env: Readonly<Record<string, string>>): Container {
    const [uid = 0, gid = 0] = this.config.User.split(":").map(Number);
    mkdirSync(dataFolder, { recursive: true });
    chownSync(dataFolder, uid, gid);
    const bundle = mkdtempSync(join(this.#folder, `${name}-`));
    const write = (args: readonly string[]): void => {
      const process = {
        user: { uid, gid },
        args,
        env: [...this.config.Env, ...Object.entries(env).map((pair) => pair.join("="))],
        cwd: this.config.WorkingDir,
        noNewPrivileges: true,
        capabilities: NO_CAPABILITIES,
      };
      const root = { path: this.#root, readonly: true };
      const spec = { ociVersion: "1.0.2", process, root, mounts: mounts(dataFolder), linux: linux() };
      writeFileSync(join(bundle, "config.json"), JSON.stringify(spec));
    };
    return new Container(basename(bundle), bundle, join(this.#folder, "crun"), write);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await buildah(this.#folder, ["umount", "--all"]);
    await rm(this.#folder, { recursive: true });
  }
}

/** One container of the image: what it runs, and its log. */
export class Container {
  readonly #name: string;
  readonly #bundle: string;
  readonly #state: string;
  readonly #write: (args: readonly string[]) => void;

  constructor(name: string, bundle: string, state: string, write: (args: readonly string[]) => void) {
    this.#name = name;
    this.#bundle = bundle;
    this.#state = state;
    this.#write = write;
  }

  /** Starts a program as the container's first process. */
  start(args: readonly string[]): ChildProcessWithoutNullStreams {
    this.#write(args);
    return spawn(OWN_MOUNTS, this.#crun(["run", "--bundle", this.#bundle, this.#name]));
  }

  /** Runs a program to its end in a running container, as its user. */
  async exec(user: string, args: readonly string[]): Promise<{ stdout: string }> {
    return run(OWN_MOUNTS, this.#crun(["exec", "--user", user, this.#name, ...args]));
  }

  /** Sends a signal to the first process, as `podman stop` does. */
  async signal(signal: "TERM" | "KILL"): Promise<void> {
    await run(OWN_MOUNTS, this.#crun(["kill", this.#name, signal]));
  }

  #crun(args: readonly string[]): string[] {
    return ["--mount", "sh", "-c", WITHOUT_GROUPS, this.#state, ...args];
  }
}

async function buildah(folder: string, args: readonly string[]): Promise<string> {
  const storage = ["--root", join(folder, "storage"), "--runroot", join(folder, "run")];
  const { stdout } = await run("buildah", [...storage, ...args], { maxBuffer: 16 * 1024 * 1024 });
  return stdout.trim();
}

/** The two images that the file begins with: Debian, and Debian with this machine's Node and npm. */
async function makeBases(folder: string): Promise<void> {
  const tar = join(folder, "debian.tar");
  await run("mmdebstrap", ["--variant=minbase", "bookworm", tar, MIRROR]);
  const container = await buildah(folder, ["from", "scratch"]);
  await buildah(folder, ["add", container, tar, "/"]);
  await buildah(folder, ["commit", container, "runtime"]);
  const { stdout: npm } = await run("sh", ["-c", 'readlink -f "$(command -v npm)"']);
  await buildah(folder, ["copy", container, process.execPath, "/usr/local/bin/node"]);
  await buildah(folder, ["copy", container, dirname(dirname(npm)), "/usr/local/lib/node_modules/npm"]);
  const link = ["ln", "-s", "../lib/node_modules/npm/bin/npm-cli.js", "/usr/local/bin/npm"];
  await buildah(folder, ["run", "--isolation", "chroot", container, "--", ...link]);
  // A company's proxy has a certificate authority that only the machine knows.
  const authorities = process.env.NODE_EXTRA_CA_CERTS;
  if (authorities !== undefined) {
    await buildah(folder, ["copy", container, authorities, "/etc/authorities.pem"]);
    await buildah(folder, ["config", "--env", "NODE_EXTRA_CA_CERTS=/etc/authorities.pem", container]);
  }
  await buildah(folder, ["commit", container, "base"]);
}

function mounts(dataFolder: string): readonly object[] {
  const [quiet, tmpfs] = [["nosuid", "noexec", "nodev"], { type: "tmpfs", source: "tmpfs" }];
  const bind = (source: string, destination: string, mode: "rw" | "ro") => ({
    ...{ type: "bind", source, destination },
    options: ["rbind", mode],
  });
  return [
    { destination: "/proc", type: "proc", source: "proc", options: quiet },
    { ...tmpfs, destination: "/dev", options: ["nosuid", "strictatime", "mode=755", "size=65536k"] },
    { ...tmpfs, destination: "/dev/shm", options: [...quiet, "mode=1777", "size=65536k"] },
    { destination: "/sys", type: "sysfs", source: "sysfs", options: [...quiet, "ro"] },
    { ...tmpfs, destination: "/tmp", options: ["nosuid", "nodev", "mode=1777"] },
    bind(dataFolder, "/data", "rw"),
    bind("/etc/hosts", "/etc/hosts", "ro"),
  ];
}

function linux(): object {
  const types = ["pid", "ipc", "uts", "mount"];
  return {
    namespaces: types.map((type) => ({ type })),
    maskedPaths: ["/proc/acpi", "/proc/kcore", "/proc/keys", "/proc/timer_list", "/sys/firmware"],
    readonlyPaths: ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"],
    seccomp: seccomp(),
  };
}

interface Rule {
  readonly names: readonly string[];
  readonly action: string;
  readonly args?: readonly object[] | null;
  readonly errnoRet?: number;
  readonly includes?: { readonly caps?: readonly string[]; readonly arches?: readonly string[] };
  readonly excludes?: { readonly caps?: readonly string[] };
}

/** Podman's profile as the runtime wants it: for a process without capabilities. */
function seccomp(): object {
  const profile = JSON.parse(readFileSync(SECCOMP, "utf8")) as {
    defaultAction: string;
    defaultErrnoRet: number;
    syscalls: Rule[];
  };
  const architecture = process.arch === "arm64" ? "arm64" : "amd64";
  const applies = ({ includes }: Rule): boolean =>
    !includes?.caps?.length && (includes?.arches?.includes(architecture) ?? true);
  return {
    defaultAction: profile.defaultAction,
    defaultErrnoRet: profile.defaultErrnoRet,
    syscalls: profile.syscalls.filter(applies).map(({ names, action, args, errnoRet }) => ({
      ...{ names, action, args: args ?? [] },
      ...(errnoRet !== undefined && { errnoRet }),
    })),
  };
}
