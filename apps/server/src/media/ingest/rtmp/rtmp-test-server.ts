import { TrustedProxies } from "../../../platform/http/trusted-proxies.ts";
import { Listener } from "../../../platform/listener.ts";
import { IngestRig } from "../ingest-rig.ts";
import { RtmpServer, type RtmpServerSettings } from "./rtmp-server.ts";

export interface RtmpTestServerOptions {
  readonly maxConnections?: number;
  readonly proxies?: readonly string[];
  /** A free port by default. */
  readonly port?: number;
  readonly secure?: RtmpServerSettings["secure"];
}

/** An `RtmpServer` on loopback with an `IngestRig`. */
export class RtmpTestServer extends IngestRig implements AsyncDisposable {
  readonly listener: Listener;
  readonly server: RtmpServer;

  private constructor(options: RtmpTestServerOptions) {
    const { maxConnections = 2_000, proxies = [], port = 0 } = options;
    super({ maxConnections });
    this.listener = new Listener("RTMP", "127.0.0.1", port);
    this.server = new RtmpServer({
      publishing: this.publishing,
      listener: this.listener,
      secure: options.secure ?? null,
      proxies: new TrustedProxies(proxies),
      maxConnections,
    });
  }

  static async start(options: RtmpTestServerOptions = {}): Promise<RtmpTestServer> {
    const started = new RtmpTestServer(options);
    await started.server.listen();
    return started;
  }

  get port(): number {
    return this.listener.port;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.server.close();
  }
}
