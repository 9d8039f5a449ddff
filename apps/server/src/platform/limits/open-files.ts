const MAX_HTTP_CONNECTIONS = 20_000;
const MAX_RTMP_CONNECTIONS = 2_000;
const MAX_STORED_READS = 1_000;
/** Share of all files for recordings, the database, transcoders, webhooks and the program itself. */
const RESERVED = 0.25;
/** Share of the rest: a publisher's recording needs files too, and a broadcaster matters more than a viewer. */
const RTMP_SHARE = 0.15;
/** Share of the reserve for responses that read from the object store. */
const READS_SHARE = 0.4;

export interface FileBudget {
  readonly http: number;
  readonly rtmp: number;
  /** Objects that may be read from the store for viewers at a time. */
  readonly storedReads: number;
}

/** Files and sockets that this process may have open: the soft limit, which Node raises to the hard limit at start. */
export function openFilesLimit(): number {
  // Without it a report looks up host names. The types do not have it yet.
  Object.assign(process.report, { excludeNetwork: true });
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } };
  const soft = userLimits?.open_files?.soft;
  // "unlimited", or a system without such a limit.
  return typeof soft === "number" ? soft : Number.POSITIVE_INFINITY;
}

/** How many files and sockets viewers and publishers may have open, so that recordings, the database and transcoders can always open a file. */
export function fileBudget(openFiles: number): FileBudget {
  const free = openFiles * (1 - RESERVED);
  const rtmp = Math.min(MAX_RTMP_CONNECTIONS, Math.floor(free * RTMP_SHARE));
  return {
    rtmp,
    http: Math.min(MAX_HTTP_CONNECTIONS, Math.floor(free - rtmp)),
    storedReads: Math.min(MAX_STORED_READS, Math.floor(openFiles * RESERVED * READS_SHARE)),
  };
}
