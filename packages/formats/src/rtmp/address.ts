import type { RtmpPlace } from "./client-connection.ts";

/** The parts of an RTMP URL. Everything but the host may be secret. */
export interface RtmpAddress extends RtmpPlace {
  readonly isSecure: boolean;
}

/** Null for URLs that are not RTMP or have no stream name. The name is everything after the last slash, including the query. */
export function rtmpAddressOf(url: string): RtmpAddress | null {
  const [path = ""] = url.split("?");
  const [, scheme = "", host = "", app = "", streamName = ""] =
    /^(rtmps?):\/\/([^/]+)\/([^?]*)\/([^/?][^/]*)$/i.exec(path) ?? [];
  if (streamName === "") return null;
  const name = host.slice(host.lastIndexOf("@") + 1);
  return {
    isSecure: scheme.toLowerCase() === "rtmps",
    app,
    tcUrl: `${scheme.toLowerCase()}://${name}/${app}`,
    streamName: streamName + url.slice(path.length),
  };
}
