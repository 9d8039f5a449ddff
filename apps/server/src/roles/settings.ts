import { DOMAIN_SETTINGS } from "../domains/settings.ts";
import { MEDIA_SETTINGS } from "../media/settings.ts";
import { availableCores } from "../platform/available-cores.ts";
import { clusterAddress } from "../platform/cluster/index.ts";
import { LOG_LEVELS } from "../platform/log.ts";
import {
  apiKey,
  bindAddress,
  databaseUrl,
  file,
  flag,
  folder,
  integer,
  type Kind,
  networks,
  oneOf,
  optional,
  origin,
  plainAddress,
  port,
  portOrOff,
  setting,
} from "../platform/setting-kinds.ts";
import { STORE_SETTINGS } from "../platform/storage/store-settings.ts";

const ROLES = ["api", "media", "worker"] as const;
type Role = (typeof ROLES)[number];

const roles: Kind<readonly Role[]> = {
  allowed: `a comma-separated list of ${ROLES.join(", ")}`,
  parse(text) {
    const names = text.split(",").map((name) => name.trim());
    return names.every((name) => ROLES.some((role) => role === name))
      ? ROLES.filter((role) => names.includes(role))
      : undefined;
  },
};

const someProcesses = integer(1, 64);
const mediaProcesses: Kind<number> = {
  allowed: `${someProcesses.allowed}, or auto`,
  parse: (text) => (text === "auto" ? Math.max(1, Math.floor(availableCores() / 2)) : someProcesses.parse(text)),
};

/** Every setting of Weir, those of the process and those of its parts: read by `readConfig`, printed by `describeSettings`. */
export const SETTINGS = {
  dataDir: setting(
    { variable: "WEIR_DATA_DIR", about: "Folder for all data of this node: database, recordings, uploads and spool." },
    folder,
    "./data",
  ),
  host: setting({ variable: "WEIR_HOST", about: "Address that all listeners bind to." }, bindAddress, "0.0.0.0"),
  httpPort: setting(
    { variable: "WEIR_HTTP_PORT", about: "TCP port of the dashboard, the API and playback. 0 picks a free one." },
    port,
    "8080",
  ),
  httpsPort: setting(
    {
      variable: "WEIR_HTTPS_PORT",
      about:
        "TCP port for HTTPS with HTTP/2, open only when `WEIR_TLS_CERT` and `WEIR_TLS_KEY` are set. 0 picks a free one.",
    },
    port,
    "8443",
  ),
  tlsCert: optional(
    {
      variable: "WEIR_TLS_CERT",
      about:
        "PEM file with the TLS certificate, followed by its intermediates. A changed file is reloaded within 10 s.",
    },
    file,
  ),
  tlsKey: optional({ variable: "WEIR_TLS_KEY", about: "PEM file with the private key of that certificate." }, file),
  rtmpPort: setting(
    { variable: "WEIR_RTMP_PORT", about: "TCP port for RTMP publishers. 0 picks a free one." },
    port,
    "1935",
  ),
  webrtcPort: setting(
    {
      variable: "WEIR_WEBRTC_PORT",
      about: "UDP port shared by all WebRTC connections (WHIP and WHEP). 0 picks a free one, `off` disables WebRTC.",
    },
    portOrOff,
    "8189",
  ),
  stunPort: setting(
    {
      variable: "WEIR_STUN_PORT",
      about:
        "UDP port of the STUN responder (Binding requests only); public WebRTC clients expect 3478. 0 picks a free one, `off` disables it.",
    },
    portOrOff,
    "3478",
  ),
  publicUrl: optional(
    {
      variable: "WEIR_PUBLIC_URL",
      about:
        "Public base URL of this server; every URL that Weir returns begins with it. If unset, API responses use the address of the request, and webhooks use the address pinned in the dashboard or last used to open it.",
    },
    origin,
  ),
  apiKey: optional(
    {
      variable: "WEIR_API_KEY",
      about:
        "API key of the first account, added at start if it is missing; other keys stay valid. If unset, the first start creates a key and prints it once.",
      isSecret: true,
    },
    apiKey,
  ),
  roles: setting(
    { variable: "WEIR_ROLES", about: "Roles of this process. Running several processes requires `DATABASE_URL`." },
    roles,
    ROLES.join(","),
  ),
  mediaProcesses: setting(
    {
      variable: "WEIR_MEDIA_PROCESSES",
      about:
        "Media processes on this machine, which share its ports and its data folder. Each can keep about one core busy. `auto` starts one for each two cores.",
    },
    mediaProcesses,
    "1",
  ),
  allowPrivateUrls: setting(
    {
      variable: "WEIR_ALLOW_PRIVATE_URLS",
      about:
        "1 allows webhooks, imports and targets to reach loopback, private and link-local addresses. For tests and closed networks only.",
    },
    flag,
    "0",
  ),
  pullNetworks: optional(
    {
      variable: "WEIR_PULL_NETWORKS",
      about:
        "Private networks that streams may be pulled from, such as the network of your cameras. Pulls alone may enter them; webhooks, imports and targets may not.",
    },
    networks,
  ),
  clusterAddress: optional(
    {
      variable: "WEIR_CLUSTER_ADDRESS",
      about: [
        "Address of this node in a private network, at which other nodes on the same database ask it for the streams and uploads that it has.",
        "`auto` takes the address by which it reaches the database, and port 8090. If unset, every node answers for itself alone.",
      ].join(" "),
    },
    clusterAddress,
  ),
  trustedProxies: optional(
    {
      variable: "WEIR_TRUSTED_PROXIES",
      about:
        "Reverse proxies whose `X-Forwarded-For`, `-Proto` and `-Host` headers, and PROXY protocol over RTMP, are trusted to identify clients. If unset, none are.",
    },
    networks,
  ),
  connectionsPerClient: setting(
    {
      variable: "WEIR_CONNECTIONS_PER_CLIENT",
      about:
        "Concurrent HTTP connections allowed for one client (an IPv4 address or an IPv6 /64), at most three quarters of all. Trusted proxies are not limited.",
    },
    integer(1, 1_000_000),
    "4000",
  ),
  geoipFile: optional(
    {
      variable: "WEIR_GEOIP_FILE",
      about:
        "GeoIP file in MaxMind format (`.mmdb`), used for viewer figures by country. If unset, countries are not recorded.",
    },
    file,
  ),
  metricsPort: setting(
    {
      variable: "WEIR_METRICS_PORT",
      about: "TCP port of `/metrics` for Prometheus. 0 picks a free one, `off` disables it.",
    },
    portOrOff,
    "9464",
  ),
  metricsHost: setting(
    {
      variable: "WEIR_METRICS_HOST",
      about: "Address that `/metrics` binds to. It requires no key, so make it reachable only by your Prometheus.",
    },
    bindAddress,
    "127.0.0.1",
  ),
  otlpEndpoint: optional(
    {
      variable: "OTEL_EXPORTER_OTLP_ENDPOINT",
      about:
        "OpenTelemetry collector that receives traces and metrics over HTTP. `OTEL_EXPORTER_OTLP_HEADERS` and the other `OTEL_` variables apply too.",
      // Some collectors take a key in the URL.
      isSecret: true,
    },
    plainAddress,
  ),
  logLevel: setting({ variable: "WEIR_LOG_LEVEL", about: "Lowest level that is logged." }, oneOf(LOG_LEVELS), "info"),
  databaseUrl: optional(
    {
      variable: "DATABASE_URL",
      about: "PostgreSQL 15 or newer to use instead of the embedded one. Its user must be allowed to create a schema.",
      isSecret: true,
    },
    databaseUrl,
  ),
  databaseDirectUrl: optional(
    {
      variable: "DATABASE_DIRECT_URL",
      about:
        "The PostgreSQL server itself, where `DATABASE_URL` is a pooler in transaction mode such as pgbouncer. For notifications and migrations, which need a session.",
      isSecret: true,
    },
    databaseUrl,
  ),
  ...MEDIA_SETTINGS,
  ...DOMAIN_SETTINGS,
  ...STORE_SETTINGS,
};
