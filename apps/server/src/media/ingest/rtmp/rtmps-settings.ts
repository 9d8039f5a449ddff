import { portOrOff, setting } from "../../../platform/setting-kinds.ts";

export const RTMPS_SETTINGS = {
  rtmpsPort: setting(
    {
      variable: "WEIR_RTMPS_PORT",
      about:
        "TCP port for RTMP publishers over TLS, open only when `WEIR_TLS_CERT` and `WEIR_TLS_KEY` are set. 0 picks a free one, `off` disables it.",
    },
    portOrOff,
    "1936",
  ),
};
