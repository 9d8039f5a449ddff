import { flag, integer, matching, setting, type ValuesOf } from "../platform/setting-kinds.ts";

/** The settings of the domain floor: what one account, project or key may have. */
export const DOMAIN_SETTINGS = {
  region: setting(
    { variable: "WEIR_REGION", about: "Region name of this node, as shown in events." },
    matching(/^[a-z0-9][a-z0-9-]{0,31}$/, "1 to 32 of a-z, 0-9 and -"),
    "local",
  ),
  rateLimit: setting(
    {
      variable: "WEIR_RATE_LIMIT",
      about: "API requests per second allowed for one API key, per process. 0 means no limit.",
    },
    integer(0, 100_000),
    "100",
  ),
  viewerLimit: setting(
    {
      variable: "WEIR_VIEWER_LIMIT",
      about: "Concurrent viewers allowed for one account; further viewers are refused. 0 means no limit.",
    },
    integer(0, 100_000_000),
    "0",
  ),
  viewersPerCredential: setting(
    {
      variable: "WEIR_VIEWERS_PER_CREDENTIAL",
      about: "Concurrent viewers allowed for one access key or token on one node. 0 means no limit.",
    },
    integer(0, 1_000_000),
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
  spoolWaitMs: setting(
    {
      variable: "WEIR_SPOOL_WAIT_MS",
      about:
        "How long recordings and uploads wait for the disk of a lost process to come back, in milliseconds. After that a recording is ready without what was there, and an upload fails. 0 where a process that is lost takes its disk with it.",
    },
    integer(0, 86_400_000),
    "600000",
  ),
  dvrMaxHours: setting(
    {
      variable: "WEIR_DVR_MAX_HOURS",
      about: "How many hours viewers can go back in a live stream at most, whatever the stream's `dvr` says.",
    },
    integer(1, 168),
    "24",
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
      about: [
        "1 keeps uploaded and imported files byte for byte, for downloads, which about doubles the storage of an asset.",
        "0 removes them when their renditions are made, and so does 1 for files that come while less than a tenth of the disk is free.",
        "An upload's keepOriginal overrides it.",
      ].join(" "),
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
  sseEventName: setting(
    {
      variable: "WEIR_SSE_EVENT_NAME",
      about: "Event name used by the server-sent event feed; some clients listen for `lp_event`.",
    },
    matching(/^[A-Za-z0-9_.-]{1,64}$/, "1 to 64 of A-Z, a-z, 0-9, _, . and -"),
    "service_event",
  ),
};

export type DomainConfig = ValuesOf<typeof DOMAIN_SETTINGS>;
