import { RecordedPublication } from "../../src/media/ingest/ingest-rig.ts";
import { RtmpTestServer } from "../../src/media/ingest/rtmp/rtmp-test-server.ts";

/** Another platform that a stream is forwarded to. It can be away. */
export class ForwardTarget implements AsyncDisposable {
  readonly port: number;
  packets = 0;
  /** Times of a broadcast that fell. */
  readonly problems: string[] = [];
  #server: RtmpTestServer | null;

  private constructor(server: RtmpTestServer) {
    this.port = server.port;
    this.#server = server;
    this.#count(server);
  }

  static async open(): Promise<ForwardTarget> {
    return new ForwardTarget(await RtmpTestServer.start());
  }

  get url(): string {
    return `rtmp://127.0.0.1:${this.port}/live/Right-Key`;
  }

  async leave(): Promise<void> {
    await this.#server?.[Symbol.asyncDispose]();
    this.#server = null;
  }

  async comeBack(): Promise<void> {
    this.#server ??= this.#count(await RtmpTestServer.start({ port: this.port }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.leave();
  }

  #count(server: RtmpTestServer): RtmpTestServer {
    server.open = (grant, publisher) => {
      const last = new Map<string, number>();
      const publication = new RecordedPublication(grant, publisher);
      // Counted, and not kept.
      publication.packet = ({ kind, dts }: Parameters<RecordedPublication["packet"]>[0]) => {
        const before = last.get(kind) ?? Number.NEGATIVE_INFINITY;
        if (dts < before) this.problems.push(`a target got ${kind} at ${dts} behind ${before}`);
        last.set(kind, dts);
        this.packets++;
      };
      return publication;
    };
    return server;
  }
}
