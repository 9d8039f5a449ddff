import { nearestName } from "./nearest-name.ts";
import {
  addresses,
  apiKey,
  bindAddress,
  cores,
  databaseUrl,
  file,
  flag,
  folder,
  integer,
  type Kind,
  matching,
  networks,
  oneOf,
  optional,
  origin,
  plainAddress,
  port,
  portOrOff,
  type Setting,
  secretKey,
  setting,
} from "./setting-kinds.ts";
import { StartupError } from "./startup-error.ts";

export const ROLES = ["api", "media", "worker"] as const;
export type Role = (typeof ROLES)[number];

const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const roles: Kind<readonly Role[]> = {
  allowed: `one or more of ${ROLES.join(", ")}, with commas between`,
  parse(text) {
    const names = text.split(",").map((name) => name.trim());
    return names.every((name) => ROLES.some((role) => role === name))
      ? ROLES.filter((role) => names.includes(role))
      : undefined;
  },
};

/** Every setting of Weir, once: read by `readConfig`, printed by `describeSettings`. */
const SETTINGS = {
  dataDir: setting(
    { variable: "WEIR_DATA_DIR", about: "Folder for everything this node keeps: database, recordings, spool." },
    folder,
    "./data",
  ),
  host: setting({ variable: "WEIR_HOST", about: "Address that the listeners bind to." }, bindAddress, "0.0.0.0"),
  httpPort: setting(
    { variable: "WEIR_HTTP_PORT", about: "TCP port of dashboard, API and playback. 0 picks a free one." },
    port,
    "8080",
  ),
  httpsPort: setting(
    {
      variable: "WEIR_HTTPS_PORT",
      about:
        "TCP port of the same by TLS, with HTTP/2, where `WEIR_TLS_CERT` and `WEIR_TLS_KEY` are set. 0 picks a free one.",
    },
    port,
    "8443",
  ),
  tlsCert: optional(
    {
      variable: "WEIR_TLS_CERT",
      about:
        "File with the TLS certificate in PEM, those that signed it behind it. Read again within 10 s when it changes.",
    },
    file,
  ),
  tlsKey: optional({ variable: "WEIR_TLS_KEY", about: "File with the private key of that certificate, in PEM." }, file),
  rtmpPort: setting(
    { variable: "WEIR_RTMP_PORT", about: "TCP port that broadcasters publish to. 0 picks a free one." },
    port,
    "1935",
  ),
  webrtcPort: setting(
    {
      variable: "WEIR_WEBRTC_PORT",
      about: "UDP port of WebRTC (WHIP and WHEP), for all connections. 0 picks a free one, `off` serves no WebRTC.",
    },
    portOrOff,
    "8189",
  ),
  webrtcAddress: optional(
    {
      variable: "WEIR_WEBRTC_ADDRESS",
      about:
        "Addresses at which WebRTC clients reach that port. Where unset, the address that a request came to and those of the machine: set it behind address translation.",
    },
    addresses,
  ),
  stunPort: setting(
    {
      variable: "WEIR_STUN_PORT",
      about:
        "UDP port of a STUN responder (Binding alone), which public WebRTC clients look for on 3478. 0 picks a free one, `off` runs none.",
    },
    portOrOff,
    "3478",
  ),
  publicUrl: optional(
    {
      variable: "WEIR_PUBLIC_URL",
      about:
        "Address at which people reach this Weir; all addresses begin with it. Where unset, answers use the address of their request, and webhooks the one that an operator pinned or last opened the dashboard at.",
    },
    origin,
  ),
  apiKey: optional(
    {
      variable: "WEIR_API_KEY",
      about:
        "API key of the first account, added at each start where it is missing; other keys stay valid. Without it one is made and printed once, at the first start.",
      isSecret: true,
    },
    apiKey,
  ),
  roles: setting(
    { variable: "WEIR_ROLES", about: "The work of this process. More than one process needs `DATABASE_URL`." },
    roles,
    ROLES.join(","),
  ),
  region: setting(
    { variable: "WEIR_REGION", about: "Name of the place where this node runs, as events tell it." },
    matching(/^[a-z0-9][a-z0-9-]{0,31}$/, "1 to 32 of a-z, 0-9 and -"),
    "local",
  ),
  reconnectWindowMs: setting(
    {
      variable: "WEIR_RECONNECT_WINDOW_MS",
      about: "How long a lost broadcaster may take to come back and go on with the same session, in milliseconds.",
    },
    integer(0, 600_000),
    "30000",
  ),
  allowPrivateUrls: setting(
    {
      variable: "WEIR_ALLOW_PRIVATE_URLS",
      about:
        "1 lets customers' URLs lead to loopback, private and link-local addresses. For tests and closed networks only.",
    },
    flag,
    "0",
  ),
  rateLimit: setting(
    {
      variable: "WEIR_RATE_LIMIT",
      about: "Requests a second that one API key may make of the API of one process. 0 for any number.",
    },
    integer(0, 100_000),
    "100",
  ),
  trustedProxies: optional(
    {
      variable: "WEIR_TRUSTED_PROXIES",
      about:
        "Proxies in front of Weir, whose `X-Forwarded-For`, `-Proto` and `-Host`, and over RTMP the PROXY protocol, count for limits and viewers. None where unset.",
    },
    networks,
  ),
  connectionsPerClient: setting(
    {
      variable: "WEIR_CONNECTIONS_PER_CLIENT",
      about:
        "HTTP connections that one client (an IPv4 address, an IPv6 /64) may have at a time, three quarters of all at most. Trusted proxies may have any number.",
    },
    integer(1, 1_000_000),
    "4000",
  ),
  viewerLimit: setting(
    {
      variable: "WEIR_VIEWER_LIMIT",
      about: "Viewers that one account may have at a time; nobody new begins beyond them. 0 for any number.",
    },
    integer(0, 100_000_000),
    "0",
  ),
  streamsPerProject: setting(
    {
      variable: "WEIR_STREAMS_PER_PROJECT",
      about: "Streams that one project may have, those that were deleted not counted. 0 for any number.",
    },
    integer(0, 100_000_000),
    "100000",
  ),
  recordingDays: setting(
    {
      variable: "WEIR_RECORDING_DAYS",
      about:
        "Days after which recordings are deleted, unless `retentionDays` of their stream says otherwise. 0 keeps them.",
    },
    integer(0, 36_500),
    "0",
  ),
  assetDays: setting(
    {
      variable: "WEIR_ASSET_DAYS",
      about: "Days after which assets are deleted, unless their own `retentionDays` says otherwise. 0 keeps them.",
    },
    integer(0, 36_500),
    "0",
  ),
  maxUploadBytes: setting(
    {
      variable: "WEIR_MAX_UPLOAD_BYTES",
      about: "Size of the largest file that may be uploaded or imported, in bytes.",
    },
    integer(1, 5_000_000_000_000),
    "34359738368",
  ),
  uploadsPerProject: setting(
    {
      variable: "WEIR_UPLOADS_PER_PROJECT",
      about: "Uploads that one project may have requested and not finished at a time. 0 for any number.",
    },
    integer(0, 1_000_000),
    "1000",
  ),
  assetBytesPerProject: setting(
    {
      variable: "WEIR_ASSET_BYTES_PER_PROJECT",
      about:
        "Bytes of uploaded and imported files that one project may have, those that can still be restored included. 0 for any number.",
    },
    integer(0, 9_000_000_000_000_000),
    "0",
  ),
  viewersPerClient: setting(
    {
      variable: "WEIR_VIEWERS_PER_CLIENT",
      about:
        "Viewers that one client (an IPv4 address, an IPv6 /64) is counted as at a time on one node, and begins in a minute, at most. More may watch and are not counted.",
    },
    integer(1, 100_000),
    "2000",
  ),
  geoipFile: optional(
    {
      variable: "WEIR_GEOIP_FILE",
      about:
        "File in MaxMind's format (`.mmdb`) that tells the countries of viewers' addresses, for figures by country. None where unset.",
    },
    folder,
  ),
  viewersPerCredential: setting(
    {
      variable: "WEIR_VIEWERS_PER_CREDENTIAL",
      about: "Viewers that one access key or token may have at a time on one node. 0 for any number.",
    },
    integer(0, 1_000_000),
    "0",
  ),
  sseEventName: setting(
    {
      variable: "WEIR_SSE_EVENT_NAME",
      about: "The name of the event feed's server-sent events; some clients listen to `lp_event`.",
    },
    matching(/^[A-Za-z0-9_.-]{1,64}$/, "1 to 64 of A-Z, a-z, 0-9, _, . and -"),
    "service_event",
  ),
  transcodeCores: optional(
    {
      variable: "WEIR_TRANSCODE_CORES",
      about:
        "Cores that live transcoding may use in all; a ladder that does not fit plays as source only. 0.6 of the machine's where unset.",
    },
    cores,
  ),
  transcodePreset: setting(
    { variable: "WEIR_TRANSCODE_PRESET", about: "x264 preset of live rungs: slower ones look better and cost more." },
    oneOf(["ultrafast", "superfast", "veryfast", "faster", "fast", "medium"]),
    "superfast",
  ),
  encoder: setting(
    {
      variable: "WEIR_ENCODER",
      about: "Encoder of live rungs; hardware is tried at the start, and x264 is used where it does not work.",
    },
    oneOf(["x264", "auto", "nvenc", "qsv"]),
    "x264",
  ),
  metricsPort: setting(
    {
      variable: "WEIR_METRICS_PORT",
      about: "TCP port of `/metrics` for Prometheus. 0 picks a free one, `off` serves none.",
    },
    portOrOff,
    "9464",
  ),
  metricsHost: setting(
    {
      variable: "WEIR_METRICS_HOST",
      about: "Address that `/metrics` binds to. It asks for no key: keep it where only your Prometheus reaches it.",
    },
    bindAddress,
    "127.0.0.1",
  ),
  otlpEndpoint: optional(
    {
      variable: "OTEL_EXPORTER_OTLP_ENDPOINT",
      about:
        "OpenTelemetry collector that traces and metrics go to, over HTTP. `OTEL_EXPORTER_OTLP_HEADERS` and the other `OTEL_` variables count as well.",
      // Some have a key in their address.
      isSecret: true,
    },
    plainAddress,
  ),
  logLevel: setting({ variable: "WEIR_LOG_LEVEL", about: "Least level that is logged." }, oneOf(LOG_LEVELS), "info"),
  databaseUrl: optional(
    {
      variable: "DATABASE_URL",
      about: "PostgreSQL 15 or newer to use in place of the embedded one. Its user must be able to create a schema.",
      isSecret: true,
    },
    databaseUrl,
  ),
  s3Bucket: optional(
    {
      variable: "WEIR_S3_BUCKET",
      about: "Bucket of an S3 store that recordings go to, in place of the data folder: see docs/4-operate/storage.md.",
    },
    matching(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, "the name of a bucket: 3 to 63 of a-z, 0-9, . and -"),
  ),
  s3Endpoint: optional(
    { variable: "WEIR_S3_ENDPOINT", about: "Address of the S3 store. Amazon's own in the region where unset." },
    plainAddress,
  ),
  s3Region: setting(
    { variable: "WEIR_S3_REGION", about: "Region of the S3 store; many stores take any." },
    matching(/^[A-Za-z0-9-]{1,64}$/, "1 to 64 of A-Z, a-z, 0-9 and -"),
    "us-east-1",
  ),
  s3AccessKeyId: optional(
    {
      variable: "WEIR_S3_ACCESS_KEY_ID",
      about: "Access key of the S3 store.",
      isSecret: true,
    },
    secretKey,
  ),
  s3SecretAccessKey: optional(
    { variable: "WEIR_S3_SECRET_ACCESS_KEY", about: "Secret of that access key.", isSecret: true },
    secretKey,
  ),
  s3PathStyle: setting(
    {
      variable: "WEIR_S3_PATH_STYLE",
      about: "1: the bucket is in the path of addresses, as most stores want it. 0: it is in the host name.",
    },
    flag,
    "1",
  ),
};

export type Config = {
  readonly [Name in keyof typeof SETTINGS]: (typeof SETTINGS)[Name] extends Setting<infer T> ? T : never;
};

/** The settings in `env`. Throws one `StartupError` that names every variable with a value that is not allowed. */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const problems: string[] = [];
  const config: Record<string, unknown> = {};
  for (const [name, { variable, fallback, parse, allowed, isSecret }] of Object.entries(SETTINGS)) {
    const text = env[variable] || fallback;
    if (text === undefined) {
      config[name] = null;
      continue;
    }
    const value = parse(text);
    if (value === undefined)
      problems.push(`${variable} is ${isSecret ? "not valid" : JSON.stringify(text)}: give ${allowed}`);
    config[name] = value;
  }
  if (problems.length > 0) throw new StartupError(problems.join("; "));
  return config as Config;
}

/** A setting and what it is in a process, without secrets. */
export interface EffectiveSetting {
  readonly variable: string;
  readonly about: string;
  /** Null without a value; `[secret]` in place of one. */
  readonly value: string | null;
  readonly isDefault: boolean;
}

/** All settings with their meaning, for people to read. */
export function effectiveSettings(config: Config): EffectiveSetting[] {
  return Object.entries(SETTINGS).map(([name, { variable, about, fallback, parse, isSecret }]) => {
    const shown = shownValue(config[name as keyof Config]);
    const isDefault = shown === (fallback === undefined ? null : shownValue(parse(fallback) ?? null));
    return { variable, about, value: isSecret && shown !== null ? "[secret]" : shown, isDefault };
  });
}

function shownValue(value: Config[keyof Config]): string | null {
  if (typeof value === "boolean") return value ? "1" : "0";
  return value === null ? null : String(value);
}

/** A sentence about each variable in `env` that looks like one of ours and is not: most likely a typing error. */
export function unknownSettings(env: Readonly<Record<string, string | undefined>>): string[] {
  const known: readonly string[] = Object.values(SETTINGS).map(({ variable }) => variable);
  return Object.keys(env)
    .filter((variable) => variable.startsWith("WEIR_") && !known.includes(variable))
    .map((variable) => {
      const nearest = nearestName(variable, known);
      const remedy = nearest ? `did you mean ${nearest}?` : "see docs/4-operate/settings.md";
      return `${variable} is not a setting of Weir and is ignored: ${remedy}`;
    });
}

/** The reference page of all settings, as Markdown. */
export function describeSettings(): string {
  const rows = Object.values(SETTINGS).map(({ variable, fallback, allowed, about }) => {
    return `| \`${variable}\` | ${fallback === undefined ? "" : `\`${fallback}\``} | ${about} | ${allowed} |`;
  });
  return [
    "# Settings",
    "",
    "Environment variables, read once at the start. An empty one counts as absent; a value that is not allowed stops the start with a message.",
    "",
    "| Variable | Default | Purpose | Allowed |",
    "| --- | --- | --- | --- |",
    ...rows,
    "",
  ].join("\n");
}
