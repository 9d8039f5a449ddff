/** Origins as they are typed, with spaces or commas between; and the first that is none, or null. */
export function parseOrigins(text: string): { origins: string[]; wrong: string | null } {
  const origins = text.split(/[\s,]+/).filter((origin) => origin !== "");
  const wrong = origins.find((origin) => origin !== "*" && !isOrigin(origin));
  return { origins: [...new Set(origins)], wrong: wrong ?? null };
}

function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text;
}
