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
  secretKey,
  setting,
} from "./setting-kinds.ts";

export const ROLES = ["api", "media", "worker"] as const;
export type Role = (typeof ROLES)[number];

const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const roles: Kind<readonly Role[]> = {
  allowed: `a comma-separated list of ${ROLES.join(", ")}`,
  parse(text) {
    const names = text.split(",").map((name) => name.trim());
    return names.every((name) => ROLES.some((role) => role === name))
      ? ROLES.filter((role) => names.includes(role))
      : undefined;
  },
};

/** Every setting of Weir: read by `readConfig`, printed by `describeSettings`. */
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
  webrtcAddress: optional(
    {
      variable: "WEIR_WEBRTC_ADDRESS",
      about:
        "Addresses at which WebRTC clients reach that port. If unset, the server offers the address the request arrived at and the machine's own. Set it behind NAT.",
    },
    addresses,
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
  region: setting(
    { variable: "WEIR_REGION", about: "Region name of this node, as shown in events." },
    matching(/^[a-z0-9][a-z0-9-]{0,31}$/, "1 to 32 of a-z, 0-9 and -"),
    "local",
  ),
  reconnectWindowMs: setting(
    {
      variable: "WEIR_RECONNECT_WINDOW_MS",
      about:
        "How long a disconnected broadcaster may take to reconnect and continue the same session, in milliseconds.",
    },
    integer(0, 600_000),
    "30000",
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
  rateLimit: setting(
    {
      variable: "WEIR_RATE_LIMIT",
      about: "API requests per second allowed for one API key, per process. 0 means no limit.",
    },
    integer(0, 100_000),
    "100",
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
  viewerLimit: setting(
    {
      variable: "WEIR_VIEWER_LIMIT",
      about: "Concurrent viewers allowed for one account; further viewers are refused. 0 means no limit.",
    },
    integer(0, 100_000_000),
    "0",
  ),
  streamsPerProject: setting(
    {
      variable: "WEIR_STREAMS_PER_PROJECT",
      about: "Streams allowed in one project, not counting deleted ones. 0 means no limit.",
    },
    integer(0, 100_000_000),
    "100000",
  ),
  recordingDays: setting(
    {
      variable: "WEIR_RECORDING_DAYS",
      about: "Days after which recordings are deleted. A stream's `retentionDays` overrides it. 0 keeps them.",
    },
    integer(0, 36_500),
    "0",
  ),
  assetDays: setting(
    {
      variable: "WEIR_ASSET_DAYS",
      about: "Days after which assets are deleted. An asset's `retentionDays` overrides it. 0 keeps them.",
    },
    integer(0, 36_500),
    "0",
  ),
  maxUploadBytes: setting(
    {
      variable: "WEIR_MAX_UPLOAD_BYTES",
      about: "Largest file that may be uploaded or imported, in bytes.",
    },
    integer(1, 5_000_000_000_000),
    "34359738368",
  ),
  keepOriginals: setting(
    {
      variable: "WEIR_KEEP_ORIGINALS",
      about:
        "1 keeps uploaded and imported files byte for byte, for downloads, which about doubles the storage of an asset. 0 removes them when their renditions are made, and so does 1 for files that come while less than a tenth of the disk is free. An upload's keepOriginal overrides it.",
    },
    flag,
    "1",
  ),
  uploadsPerProject: setting(
    {
      variable: "WEIR_UPLOADS_PER_PROJECT",
      about: "Unfinished uploads allowed in one project. 0 means no limit.",
    },
    integer(0, 1_000_000),
    "1000",
  ),
  assetBytesPerProject: setting(
    {
      variable: "WEIR_ASSET_BYTES_PER_PROJECT",
      about:
        "Bytes of files, clips and recordings allowed in one project, including deleted assets that can still be restored. Beyond it, uploads, imports and clips are refused, and recordings go on. 0 means no limit.",
    },
    integer(0, 9_000_000_000_000_000),
    "0",
  ),
  viewersPerClient: setting(
    {
      variable: "WEIR_VIEWERS_PER_CLIENT",
      about:
        "Largest number of concurrent viewers, and of new viewers per minute, counted for one client (an IPv4 address or an IPv6 /64) on one node. Further viewers can watch but are not counted.",
    },
    integer(1, 100_000),
    "2000",
  ),
  geoipFile: optional(
    {
      variable: "WEIR_GEOIP_FILE",
      about:
        "GeoIP file in MaxMind format (`.mmdb`), used for viewer figures by country. If unset, countries are not recorded.",
    },
    file,
  ),
  viewersPerCredential: setting(
    {
      variable: "WEIR_VIEWERS_PER_CREDENTIAL",
      about: "Concurrent viewers allowed for one access key or token on one node. 0 means no limit.",
    },
    integer(0, 1_000_000),
    "0",
  ),
  sseEventName: setting(
    {
      variable: "WEIR_SSE_EVENT_NAME",
      about: "Event name used by the server-sent event feed; some clients listen for `lp_event`.",
    },
    matching(/^[A-Za-z0-9_.-]{1,64}$/, "1 to 64 of A-Z, a-z, 0-9, _, . and -"),
    "service_event",
  ),
  transcodeCores: optional(
    {
      variable: "WEIR_TRANSCODE_CORES",
      about:
        "Cores that live transcoding may use in total; a stream whose ladder does not fit plays in source quality only. If unset, 0.6 of the machine's cores.",
    },
    cores,
  ),
  transcodePreset: setting(
    {
      variable: "WEIR_TRANSCODE_PRESET",
      about: "x264 preset of live rungs. Slower presets look better and use more CPU.",
    },
    oneOf(["ultrafast", "superfast", "veryfast", "faster", "fast", "medium"]),
    "superfast",
  ),
  encoder: setting(
    {
      variable: "WEIR_ENCODER",
      about: "Encoder of live rungs. Hardware encoders are tested at start; x264 is used if the test fails.",
    },
    oneOf(["x264", "auto", "nvenc", "qsv"]),
    "x264",
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
  s3Bucket: optional(
    {
      variable: "WEIR_S3_BUCKET",
      about: "S3 bucket for recordings and assets, used instead of the data folder: see docs/4-operate/storage.md.",
    },
    matching(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, "the name of a bucket: 3 to 63 of a-z, 0-9, . and -"),
  ),
  s3Endpoint: optional(
    { variable: "WEIR_S3_ENDPOINT", about: "URL of the S3 store. If unset, Amazon S3 in `WEIR_S3_REGION`." },
    plainAddress,
  ),
  s3Region: setting(
    { variable: "WEIR_S3_REGION", about: "Region of the S3 store; many stores accept any value." },
    matching(/^[A-Za-z0-9-]{1,64}$/, "1 to 64 of A-Z, a-z, 0-9 and -"),
    "us-east-1",
  ),
  s3AccessKeyId: optional(
    {
      variable: "WEIR_S3_ACCESS_KEY_ID",
      about: "Access key ID for the S3 store.",
      isSecret: true,
    },
    secretKey,
  ),
  s3SecretAccessKey: optional(
    { variable: "WEIR_S3_SECRET_ACCESS_KEY", about: "Secret access key for the S3 store.", isSecret: true },
    secretKey,
  ),
  s3PathStyle: setting(
    {
      variable: "WEIR_S3_PATH_STYLE",
      about: "1 puts the bucket in the URL path, as most stores require. 0 puts it in the host name.",
    },
    flag,
    "1",
  ),
  s3Redirects: setting(
    {
      variable: "WEIR_S3_REDIRECTS",
      about:
        "1 redirects viewers of recordings and assets to presigned addresses of the S3 store, which must be reachable for them. 0 streams the media through the server.",
    },
    flag,
    "0",
  ),
};
