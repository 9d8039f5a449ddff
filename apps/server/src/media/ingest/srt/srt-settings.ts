import { Secret } from "../../../platform/secret.ts";
import { type Kind, optional, portOrOff, setting } from "../../../platform/setting-kinds.ts";

/** What libsrt accepts; encoders differ in how they read other characters in an address. */
const passphrase: Kind<Secret> = {
  allowed: "10 to 79 letters and digits",
  parse: (text) => (/^[A-Za-z0-9]{10,79}$/.test(text) ? new Secret(text) : undefined),
};

export const SRT_SETTINGS = {
  srtPort: setting(
    {
      variable: "WEIR_SRT_PORT",
      about:
        "UDP port for SRT publishers. 0 picks a free one, `off` disables it. Needs the system's libsrt (Debian and Ubuntu: `libsrt1.5-gnutls`).",
    },
    portOrOff,
    "8890",
  ),
  srtPassphrase: optional(
    {
      variable: "WEIR_SRT_PASSPHRASE",
      about: "Passphrase that encrypts SRT and that every SRT publisher must know. If unset, SRT is not encrypted.",
      isSecret: true,
    },
    passphrase,
  ),
};
