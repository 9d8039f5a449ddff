import { setTimeout as sleep } from "node:timers/promises";
import { RtmpTestClient } from "../../src/media/ingest/rtmp/rtmp-test-client.ts";

/** An encoder that is let in with its key, sends nothing, and leaves. */
export async function connectWithoutMedia(rtmpPort: number, streamKey: string, ms: number): Promise<void> {
  const { client } = await RtmpTestClient.publish(rtmpPort, streamKey);
  await sleep(ms);
  client.socket.destroy();
}
