/** What a server asks of a client that must say who it is. */
export interface Challenge {
  /** Lower case, for example `digest`. */
  readonly scheme: string;
  /** By name in lower case. */
  readonly parameters: ReadonlyMap<string, string>;
}

const MAX_CHALLENGES = 8;
const SEPARATOR = /[\s,]*/y;
const PARAMETER = /([\w!#$%&'*+.^`|~-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*))/y;
const SCHEME = /[\w-]+/y;

/** Reads `WWW-Authenticate` (RFC 9110 11.6.1): each value may have several challenges. Stops at what it cannot read. */
export function readChallenges(values: readonly string[]): readonly Challenge[] {
  return values.flatMap(challengesOf).slice(0, MAX_CHALLENGES);
}

function challengesOf(text: string): Challenge[] {
  const found: { scheme: string; parameters: Map<string, string> }[] = [];
  let at = 0;
  const next = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match) at = pattern.lastIndex;
    return match;
  };
  while (found.length <= MAX_CHALLENGES) {
    next(SEPARATOR);
    const parameter = next(PARAMETER);
    if (parameter) {
      const [, name = "", quoted, plain = ""] = parameter;
      found.at(-1)?.parameters.set(name.toLowerCase(), quoted?.replaceAll(/\\(.)/g, "$1") ?? plain);
      continue;
    }
    const scheme = next(SCHEME);
    if (!scheme) break;
    found.push({ scheme: scheme[0].toLowerCase(), parameters: new Map() });
  }
  return found;
}
