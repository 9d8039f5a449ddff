import { Agent, get } from "node:http";

/** Limits one run, however fast the server is. */
const MAX_REQUESTS = 400_000;
const RESPONSE_TIMEOUT_MS = 5_000;

export interface LoadResult {
  readonly requests: number;
  readonly bytes: number;
}

/**
 * Requests `url` over `connections` keep-alive connections, one request at a time on each, for `seconds`. Throws at the first response other than
 * 200.
 */
export async function load(url: string, connections: number, seconds: number): Promise<LoadResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const until = performance.now() + seconds * 1000;
  let requests = 0;
  let bytes = 0;
  const one = () =>
    new Promise<void>((resolve, reject) => {
      get(url, { agent, timeout: RESPONSE_TIMEOUT_MS }, (response) => {
        if (response.statusCode !== 200) reject(new Error(`${url} responded with ${response.statusCode}`));
        response.on("data", (chunk: Buffer) => {
          bytes += chunk.byteLength;
        });
        response.on("end", () => resolve());
        response.on("error", reject);
      })
        .on("timeout", () => reject(new Error(`no response within ${RESPONSE_TIMEOUT_MS} ms: ${url}`)))
        .on("error", reject);
    });
  const worker = async () => {
    while (performance.now() < until && requests < MAX_REQUESTS) {
      await one();
      requests++;
    }
  };
  try {
    await Promise.all(Array.from({ length: connections }, worker));
  } finally {
    agent.destroy();
  }
  return { requests, bytes };
}
