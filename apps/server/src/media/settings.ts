import { addresses, cores, integer, oneOf, optional, secretKey, setting, turnUrls } from "../platform/setting-kinds.ts";
import { RTMPS_SETTINGS } from "./ingest/rtmp/rtmps-settings.ts";
import { SRT_SETTINGS } from "./ingest/srt/srt-settings.ts";

/** The settings of the media floor; its ports are among those of the process. */
export const MEDIA_SETTINGS = {
  reconnectWindowMs: setting(
    {
      variable: "WEIR_RECONNECT_WINDOW_MS",
      about:
        "How long a disconnected broadcaster may take to reconnect and continue the same session, in milliseconds.",
    },
    integer(0, 600_000),
    "30000",
  ),
  viewersPerClient: setting(
    {
      variable: "WEIR_VIEWERS_PER_CLIENT",
      about:
        "Largest number of concurrent viewers, and of new viewers per minute, counted for one client (an IPv4 address or an IPv6 /64) on one node. Further viewers can watch but are not counted.",
    },
    integer(1, 100_000),
    "2000",
  ),
  transcodeCores: optional(
    {
      variable: "WEIR_TRANSCODE_CORES",
      about:
        "Cores that live transcoding may use in total; a stream whose ladder does not fit plays in source quality only. If unset, 0.6 of the machine's cores.",
    },
    cores,
  ),
  transcodePreset: setting(
    {
      variable: "WEIR_TRANSCODE_PRESET",
      about: "x264 preset of live rungs. Slower presets look better and use more CPU.",
    },
    oneOf(["ultrafast", "superfast", "veryfast", "faster", "fast", "medium"]),
    "superfast",
  ),
  encoder: setting(
    {
      variable: "WEIR_ENCODER",
      about: "Encoder of live rungs. Hardware encoders are tested at start; x264 is used if the test fails.",
    },
    oneOf(["x264", "auto", "nvenc", "qsv"]),
    "x264",
  ),
  webrtcAddress: optional(
    {
      variable: "WEIR_WEBRTC_ADDRESS",
      about:
        "Addresses at which WebRTC clients reach that port. If unset, the server offers the address the request arrived at and the machine's own. Set it behind NAT.",
    },
    addresses,
  ),
  turnUrls: optional(
    {
      variable: "WEIR_TURN_URLS",
      about:
        "TURN servers for viewers whose network blocks UDP. Admitted viewers get their addresses, with credentials made from `WEIR_TURN_SECRET`.",
    },
    turnUrls,
  ),
  turnSecret: optional(
    {
      variable: "WEIR_TURN_SECRET",
      about: "Secret that those TURN servers share with Weir: `static-auth-secret` of coturn.",
      isSecret: true,
    },
    secretKey,
  ),
  ...RTMPS_SETTINGS,
  ...SRT_SETTINGS,
};
