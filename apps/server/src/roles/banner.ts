export interface BannerFacts {
  /** Null where this process does not have the role. */
  readonly dashboardUrl: string | null;
  readonly rtmpUrl: string | null;
  readonly dataFolder: string;
  /** The key that was made at this start; null at every other. */
  readonly newApiKey: string | null;
}

/** The lines for the person who started Weir: where it is and what to do next. The one place where an API key is printed. */
export function banner({ dashboardUrl, rtmpUrl, dataFolder, newApiKey }: BannerFacts): string {
  const facts: readonly (readonly [string, string | null])[] = [
    ["Dashboard", dashboardUrl],
    ["RTMP", rtmpUrl && `${rtmpUrl}/<stream key>`],
    ["Data", dataFolder],
    ["API key", newApiKey && `${newApiKey}   (shown this once: keep it)`],
  ];
  const next = newApiKey
    ? "Next: open the dashboard, sign in with the API key, create a stream and send a test broadcast."
    : "Next: open the dashboard and sign in with your API key.";
  return [
    "",
    "  Weir is ready.",
    "",
    ...facts.filter(([, value]) => value).map(([name, value]) => `  ${name.padEnd(10)} ${value}`),
    "",
    ...(dashboardUrl ? [`  ${next}`, ""] : []),
    "",
  ].join("\n");
}
