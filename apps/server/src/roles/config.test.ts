import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { DOMAIN_SETTINGS } from "../domains/settings.ts";
import { valuesOf } from "../platform/setting-kinds.ts";
import { StartupError } from "../platform/startup-error.ts";
import { describeSettings, effectiveSettings, readConfig, unknownSettings } from "./config.ts";

test("an empty environment gives the documented defaults", () => {
  expect(readConfig({})).toEqual({
    dataDir: resolve("data"),
    host: "0.0.0.0",
    httpPort: 8080,
    httpsPort: 8443,
    tlsCert: null,
    tlsKey: null,
    rtmpPort: 1935,
    rtmpsPort: 1936,
    srtPort: 8890,
    srtPassphrase: null,
    webrtcPort: 8189,
    webrtcAddress: null,
    stunPort: 3478,
    turnUrls: null,
    turnSecret: null,
    metricsPort: 9464,
    keepOriginals: true,
    metricsHost: "127.0.0.1",
    otlpEndpoint: null,
    sseEventName: "service_event",
    publicUrl: null,
    apiKey: null,
    roles: ["api", "media", "worker"],
    region: "local",
    reconnectWindowMs: 30_000,
    allowPrivateUrls: false,
    pullNetworks: null,
    rateLimit: 100,
    clusterAddress: null,
    trustedProxies: null,
    connectionsPerClient: 4_000,
    viewerLimit: 0,
    streamsPerProject: 100_000,
    recordingDays: 0,
    dvrMaxHours: 24,
    assetDays: 0,
    maxUploadBytes: 34_359_738_368,
    uploadsPerProject: 1_000,
    assetBytesPerProject: 0,
    viewersPerClient: 2_000,
    viewersPerCredential: 0,
    transcodeCores: null,
    transcodePreset: "superfast",
    encoder: "x264",
    logLevel: "info",
    databaseUrl: null,
    databaseDirectUrl: null,
    mediaProcesses: 1,
    spoolWaitMs: 600_000,
    geoipFile: null,
    s3Bucket: null,
    s3Endpoint: null,
    s3Region: "us-east-1",
    s3AccessKeyId: null,
    s3SecretAccessKey: null,
    s3PathStyle: true,
    s3Redirects: false,
  });
});

test("an empty variable counts as absent", () => {
  expect(readConfig({ WEIR_HTTP_PORT: "", WEIR_API_KEY: "" })).toMatchObject({ httpPort: 8080, apiKey: null });
});

describe("values that are taken", () => {
  test.each([
    ["WEIR_HTTP_PORT", "0", { httpPort: 0 }],
    ["WEIR_METRICS_PORT", "0", { metricsPort: 0 }],
    ["WEIR_METRICS_PORT", "off", { metricsPort: null }],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318/", { otlpEndpoint: "http://collector:4318" }],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "https://c.example/otlp", { otlpEndpoint: "https://c.example/otlp" }],
    ["WEIR_RTMP_PORT", "65535", { rtmpPort: 65_535 }],
    ["WEIR_HOST", "::1", { host: "::1" }],
    ["WEIR_PUBLIC_URL", "https://video.example.com/", { publicUrl: "https://video.example.com" }],
    ["WEIR_ROLES", "worker, media", { roles: ["media", "worker"] }],
    ["WEIR_ROLES", "api,api", { roles: ["api"] }],
    ["WEIR_REGION", "eu-west-1", { region: "eu-west-1" }],
    ["WEIR_TRUSTED_PROXIES", "10.0.0.0/8, ::1", { trustedProxies: ["10.0.0.0/8", "::1"] }],
    ["WEIR_ALLOW_PRIVATE_URLS", "1", { allowPrivateUrls: true }],
    ["WEIR_LOG_LEVEL", "debug", { logLevel: "debug" }],
  ])("%s=%s", (variable, text, expected) => {
    expect(readConfig({ [variable]: text })).toMatchObject(expected);
  });
});

describe("values that stop the start", () => {
  test.each([
    ["WEIR_HTTP_PORT", "80a", "a whole number from 0 to 65535"],
    ["WEIR_HTTP_PORT", "65536", "a whole number from 0 to 65535"],
    ["WEIR_METRICS_PORT", "no", "a whole number from 0 to 65535, or off"],
    ["WEIR_RTMP_PORT", "-1", "a whole number from 0 to 65535"],
    ["WEIR_RECONNECT_WINDOW_MS", "1e3", "a whole number from 0 to 600000"],
    ["WEIR_TRUSTED_PROXIES", "10.0.0.0/8,proxy.example.com", "IP addresses or networks"],
    ["WEIR_HOST", "example.com", "an IP address"],
    ["WEIR_PUBLIC_URL", "video.example.com", "an http:// or https:// URL"],
    ["WEIR_PUBLIC_URL", "https://example.com/weir", "without a path"],
    ["WEIR_PUBLIC_URL", "https://me:pass@example.com", "an http:// or https:// URL"],
    ["WEIR_TURN_URLS", "turn:relay.test:65536", "comma-separated URLs such as turn:"],
    ["WEIR_TURN_URLS", "turn:relay.test,stun:relay.test", "comma-separated URLs such as turn:"],
    ["WEIR_ROLES", "api,everything", "a comma-separated list of api, media, worker"],
    ["WEIR_ROLES", ",", "a comma-separated list of api, media, worker"],
    ["WEIR_REGION", "EU West", "1 to 32 of a-z, 0-9 and -"],
    ["WEIR_ALLOW_PRIVATE_URLS", "yes", "1 or 0"],
    ["WEIR_LOG_LEVEL", "loud", "one of trace, debug, info, warn, error, fatal, silent"],
  ])("%s=%s names the variable, the value and what is allowed", (variable, text, allowed) => {
    const attempt = () => readConfig({ [variable]: text });
    expect(attempt).toThrow(StartupError);
    expect(attempt).toThrow(`${variable} is ${JSON.stringify(text)}: give `);
    expect(attempt).toThrow(allowed);
  });

  test("all of them are named at once", () => {
    expect(() => readConfig({ WEIR_HTTP_PORT: "x", WEIR_LOG_LEVEL: "y" })).toThrow(/WEIR_HTTP_PORT.*; WEIR_LOG_LEVEL/);
  });

  test.each([
    ["WEIR_API_KEY", "tooshort"],
    ["DATABASE_URL", "mysql://u:hunter2@h/d"],
    ["WEIR_TURN_SECRET", "hunter 2"],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "http://user:hunter2@host"],
  ])("%s is named without its value", (variable, text) => {
    expect(() => readConfig({ [variable]: text })).toThrow(`${variable} is not valid: give `);
    expect(() => readConfig({ [variable]: text })).not.toThrow(text);
  });
});

test("secrets in the configuration do not print", () => {
  const config = readConfig({ WEIR_API_KEY: "k".repeat(20), DATABASE_URL: "postgres://u:hunter2@h/d" });
  expect(`${inspect(config)} ${JSON.stringify(config)} ${config.apiKey}`).not.toMatch(/kkk|hunter2/);
  expect(config.databaseUrl?.reveal()).toBe("postgres://u:hunter2@h/d");
});

test.each([
  ["WEIR_HTPP_PORT", "did you mean WEIR_HTTP_PORT?"],
  ["WEIR_HTTPPORT", "did you mean WEIR_HTTP_PORT?"],
  ["WEIR_PUBLIC_URI", "did you mean WEIR_PUBLIC_URL?"],
  ["WEIR_TRANSCODER_CORES", "did you mean WEIR_TRANSCODE_CORES?"],
  ["WEIR_COFFEE_MACHINE", "see docs/4-operate/settings.md"],
])("the mistyped variable %s is named with what was meant", (variable, remedy) => {
  expect(unknownSettings({ [variable]: "1", WEIR_HOST: "::", PATH: "" })).toEqual([
    `${variable} is not a setting of Weir and is ignored: ${remedy}`,
  ]);
});

test("the domain floor is given its own settings, and no secret of another part", () => {
  const config = readConfig({ WEIR_API_KEY: "k".repeat(20), WEIR_RATE_LIMIT: "7", WEIR_HTTP_PORT: "1" });
  const own = valuesOf(DOMAIN_SETTINGS, config);
  expect(own).toMatchObject({ rateLimit: 7, region: "local" });
  expect(Object.keys(own)).toEqual(Object.keys(DOMAIN_SETTINGS));
  expect(own).not.toHaveProperty("apiKey");
});

test("the page in docs is the one that the settings print", async () => {
  const page = new URL("../../../../docs/4-operate/settings.md", import.meta.url);
  expect(await readFile(page, "utf8")).toBe(describeSettings());
});

test("the effective settings show what each is, and of a secret only that there is one", () => {
  const config = readConfig({ WEIR_API_KEY: "a-secret-of-this-test", WEIR_ROLES: "api", WEIR_REGION: "local" });
  const shown = effectiveSettings(config);
  const shownOf = (variable: string) => shown.find((setting) => setting.variable === variable);
  expect(shownOf("WEIR_API_KEY")).toMatchObject({ value: "[secret]", isDefault: false });
  expect(shownOf("DATABASE_URL")).toMatchObject({ value: null, isDefault: true });
  expect(shownOf("WEIR_ROLES")).toMatchObject({ value: "api", isDefault: false });
  expect(shownOf("WEIR_REGION")).toMatchObject({ value: "local", isDefault: true });
  expect(shownOf("WEIR_ALLOW_PRIVATE_URLS")).toMatchObject({ value: "0", isDefault: true });
  expect(JSON.stringify(shown)).not.toContain("a-secret-of-this-test");
});
