import { Agent, get } from "node:http";

/** Requests that one run makes at most, so that it ends whatever a server does. */
const MAX_REQUESTS = 400_000;

export interface LoadResult {
  readonly requests: number;
  readonly bytes: number;
}

/** Get `url` over `connections` kept connections, one request after the other on each, for `seconds`. Throws at the first answer that is not 200. */
export async function load(url: string, connections: number, seconds: number): Promise<LoadResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const until = performance.now() + seconds * 1000;
  let requests = 0;
  let bytes = 0;
  const one = () =>
    new Promise<void>((resolve, reject) => {
      get(url, { agent, timeout: 5000 }, (response) => {
        if (response.statusCode !== 200) reject(new Error(`${url} answered ${response.statusCode}`));
        response.on("data", (chunk: Buffer) => {
          bytes += chunk.byteLength;
        });
        response.on("end", () => resolve());
        response.on("error", reject);
      }).on("error", reject);
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
