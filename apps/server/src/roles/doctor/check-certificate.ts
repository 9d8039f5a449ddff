import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { type Check, type Finding, ok, problem, reasonOf, warning } from "./finding.ts";

const DAY_MS = 86_400_000;
/** Renewals happen a month before the end. */
const SOON_DAYS = 14;

/** Whether the certificate is valid, fits its key, and names the host of the public address. */
export const checkCertificate: Check = async ({ config, clock }) => {
  const { tlsCert, tlsKey, publicUrl } = config;
  if (tlsCert === null || tlsKey === null) return [];
  const say = (finding: typeof problem, sentence: string): Finding[] => [finding("certificate", sentence)];
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(readFileSync(tlsCert));
    if (!certificate.checkPrivateKey(createPrivateKey(readFileSync(tlsKey))))
      return say(
        problem,
        `the key in ${tlsKey} is not that of the certificate in ${tlsCert}: set WEIR_TLS_KEY to the key that it was made with`,
      );
  } catch (error) {
    return say(
      problem,
      `WEIR_TLS_CERT or WEIR_TLS_KEY cannot be read (${reasonOf(error)}): give PEM files that this user may read`,
    );
  }
  const days = Math.floor((certificate.validToDate.getTime() - clock.now()) / DAY_MS);
  const until = certificate.validToDate.toISOString().slice(0, 10);
  if (days < 0)
    return say(
      problem,
      `the certificate in ${tlsCert} expired on ${until}: renew it; a running server loads the new one within 10 s`,
    );
  if (certificate.validFromDate.getTime() > clock.now())
    return say(
      problem,
      `the certificate in ${tlsCert} is not valid before ${certificate.validFromDate.toISOString()}: correct this machine's clock`,
    );
  const host = publicUrl === null ? null : new URL(publicUrl).hostname;
  if (host !== null && certificate.checkHost(host) === undefined && certificate.checkIP(host) === undefined)
    return say(
      problem,
      `the certificate in ${tlsCert} is not for ${host}, the host of WEIR_PUBLIC_URL: get one for that name`,
    );
  if (days < SOON_DAYS)
    return say(warning, `the certificate in ${tlsCert} expires on ${until}, in ${days} days: check its renewal`);
  return say(ok, `valid until ${until}`);
};
