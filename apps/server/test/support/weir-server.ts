import { readFileSync } from "node:fs";
import { WeirClient } from "@weir/client";

export const PRESET_API_KEY = "end-to-end-tests-preset-key";

/** Addresses of a server on this machine. */
export interface WeirAddress {
  readonly dataFolder: string;
  readonly httpPort: number;
  readonly rtmpPort: number;
}

/** A running server, from its users' perspective. */
export class WeirServer implements WeirAddress {
  readonly dataFolder: string;
  readonly httpPort: number;
  readonly rtmpPort: number;
  readonly apiKey = PRESET_API_KEY;
  readonly client: WeirClient;

  constructor({ dataFolder, httpPort, rtmpPort }: WeirAddress) {
    this.dataFolder = dataFolder;
    this.httpPort = httpPort;
    this.rtmpPort = rtmpPort;
    this.client = new WeirClient({ baseUrl: this.url, apiKey: this.apiKey, maxRetries: 0 });
  }

  get url(): string {
    return `http://127.0.0.1:${this.httpPort}`;
  }

  get logPath(): string {
    return `${this.dataFolder}.log`;
  }

  /** Its output since the first start. */
  get log(): string {
    return readFileSync(this.logPath, "utf8");
  }

  publishUrl(streamKey: string): string {
    return `rtmp://127.0.0.1:${this.rtmpPort}/live/${streamKey}`;
  }

  /** WebRTC URL for a playback id or a stream key. */
  webrtcUrl(name: string): string {
    return `${this.url}/webrtc/${name}`;
  }

  hlsUrl(playbackId: string): string {
    return `${this.url}/hls/${playbackId}/index.m3u8`;
  }
}
