import { Libsrt } from "../../media/srt/index.ts";
import { chooseEncoder } from "../../media/transcode/index.ts";
import { UNCONFINED } from "../../platform/confinement/confinement.ts";
import { silentLog } from "../../platform/log.ts";
import { type Check, type Finding, ok, problem, warning } from "./finding.ts";

/** Whether this machine has the encoder that is set, and FFmpeg's libraries at all. */
export const checkEncoder: Check = async ({ config, clock }) => {
  const { encoder, roles } = config;
  if (!roles.includes("media") && !roles.includes("worker")) return [];
  try {
    import.meta.resolve(`@seydx/node-av-${process.platform}-${process.arch}`);
  } catch {
    return [
      problem(
        "encoder",
        "FFmpeg's libraries are not installed, so nothing is transcoded: run npm ci without --omit=optional",
      ),
    ];
  }
  const chosen = await chooseEncoder(encoder, clock, silentLog, UNCONFINED);
  if (encoder === "x264" || (encoder === "auto" && chosen !== "libx264")) return [ok("encoder", chosen)];
  if (encoder === "auto")
    return [
      warning(
        "encoder",
        "no hardware encoder works here, so x264 is used: install the driver, or set WEIR_ENCODER=x264",
      ),
    ];
  return chosen === "libx264" ? [missing(encoder)] : [ok("encoder", chosen)];
};

const missing = (encoder: string): Finding =>
  problem(
    "encoder",
    `WEIR_ENCODER is ${encoder}, and no such encoder works on this machine: install its driver, let this user open its device, or set WEIR_ENCODER=x264`,
  );

/** Whether streams can be sent to targets over SRT. */
export const checkLibsrt: Check = async ({ config }) => {
  if (!config.roles.includes("media")) return [];
  if ((await Libsrt.load()) !== null) return [ok("libsrt", "found")];
  return [
    warning(
      "libsrt",
      "libsrt is not installed, so SRT does not work: install it (Debian: apt install libsrt1.5-gnutls) if you need SRT",
    ),
  ];
};
