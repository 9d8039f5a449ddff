import { unknownSettings } from "../config.ts";
import { type Check, type Finding, ok, problem, warning } from "./finding.ts";

/** Settings that are misspelt, or contradict each other. */
export const checkSettings: Check = async ({ config, env }) => {
  const found: Finding[] = unknownSettings(env).map((sentence) => warning("settings", sentence));
  const { tlsCert, tlsKey, publicUrl, trustedProxies, s3Bucket, s3Redirects, roles, databaseUrl, host } = config;
  const { turnUrls, turnSecret } = config;
  const say = (sentence: string) => found.push(problem("settings", sentence));
  if ((tlsCert === null) !== (tlsKey === null)) say("WEIR_TLS_CERT and WEIR_TLS_KEY go together: set both, or none");
  if ((turnUrls === null) !== (turnSecret === null))
    say("WEIR_TURN_URLS and WEIR_TURN_SECRET go together: set both, or none");
  if (s3Redirects && s3Bucket === null)
    say(
      "WEIR_S3_REDIRECTS is 1 and WEIR_S3_BUCKET is not set, so there is no store to redirect to: set the bucket, or remove it",
    );
  if (roles.length < 3 && databaseUrl === null)
    say(
      `WEIR_ROLES is ${roles.join(",")} and DATABASE_URL is not set, so no other process can have the other roles: set DATABASE_URL`,
    );
  if (publicUrl?.startsWith("https:") && tlsCert === null && trustedProxies === null)
    say(
      "WEIR_PUBLIC_URL is https, and nothing here speaks TLS: set WEIR_TLS_CERT and WEIR_TLS_KEY, or WEIR_TRUSTED_PROXIES to the proxy that does",
    );
  if (isLoopback(host) && publicUrl !== null && trustedProxies === null && !isLoopback(new URL(publicUrl).hostname))
    say(
      `WEIR_HOST is ${host}, so only this machine reaches the server: set it to 0.0.0.0, or WEIR_TRUSTED_PROXIES to the proxy in front`,
    );
  return found.length > 0 ? found : [ok("settings", "all are valid and consistent")];
};

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "[::1]" || host === "::1" || host.startsWith("127.");
