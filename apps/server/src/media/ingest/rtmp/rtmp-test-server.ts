import { TrustedProxies } from "../../../platform/http/trusted-proxies.ts";
import { IngestRig } from "../ingest-rig.ts";
import { RtmpServer } from "./rtmp-server.ts";

export interface RtmpTestServerOptions {
  readonly maxConnections?: number;
  readonly proxies?: readonly string[];
  /** A free port by default. */
  readonly port?: number;
}

/** An `RtmpServer` on loopback with an `IngestRig`. */
export class RtmpTestServer extends IngestRig implements AsyncDisposable {
  port = 0;
  readonly server: RtmpServer;

  private constructor({ maxConnections = 2_000, proxies = [], port = 0 }: RtmpTestServerOptions) {
    super({ maxConnections });
    this.server = new RtmpServer({
      publishing: this.publishing,
      host: "127.0.0.1",
      port,
      proxies: new TrustedProxies(proxies),
      maxConnections,
    });
  }

  static async start(options: RtmpTestServerOptions = {}): Promise<RtmpTestServer> {
    const started = new RtmpTestServer(options);
    started.port = await started.server.listen();
    return started;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.server.close();
  }
}
