export interface BannerFacts {
  /** Of the API and the dashboard. Here and below null where this process does not have the role. */
  readonly url: string | null;
  /** Whether the dashboard is built. */
  readonly hasDashboard: boolean;
  readonly rtmpUrl: string | null;
  readonly rtmpsUrl?: string | null;
  readonly srtUrl?: string | null;
  readonly dataFolder: string;
  /** Media processes, where there are several. */
  readonly processes?: number;
  /** The key that was made at this start; null at every other. */
  readonly newApiKey: string | null;
  /** What works less than it could, and how to change that. */
  readonly warnings: readonly string[];
}

/** The lines for the person who started Weir: where it is and what to do next. The one place where an API key is printed. */
export function banner(about: BannerFacts): string {
  const { url, hasDashboard, rtmpUrl, rtmpsUrl, srtUrl, dataFolder, processes, newApiKey, warnings } = about;
  const facts: readonly (readonly [string, string | null | undefined])[] = [
    [hasDashboard ? "Dashboard" : "API", url],
    ["RTMP", rtmpUrl && `${rtmpUrl}/<stream key>`],
    ["RTMPS", rtmpsUrl && `${rtmpsUrl}/<stream key>`],
    ["SRT", srtUrl && `${srtUrl}?streamid=<stream key>`],
    ["Data", dataFolder],
    ["Processes", processes?.toString()],
    ["API key", newApiKey],
    ...warnings.map((warning) => ["Warning", warning] as const),
  ];
  const paragraphs = [
    ["Weir is ready."],
    facts.filter(([, value]) => value).map(([name, value]) => `${name.padEnd(10)} ${value}`),
    newApiKey ? aboutKey(hasDashboard) : [],
    hasDashboard ? [nextStep(newApiKey !== null)] : [],
  ];
  const shown = paragraphs
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.map((line) => `  ${line}\n`).join(""));
  return `\n${shown.join("\n")}\n`;
}

function aboutKey(hasDashboard: boolean): string[] {
  const first = "The API key is shown only now. Keep it in a password manager: it has full access to this server.";
  return hasDashboard
    ? [first, "To sign in with a name and password instead, add a person under Settings, People."]
    : [first];
}

function nextStep(isFirstStart: boolean): string {
  return isFirstStart
    ? "Next: open the dashboard, sign in with the API key, create a stream and send a test broadcast."
    : "Next: open the dashboard and sign in.";
}
