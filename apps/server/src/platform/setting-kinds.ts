import { isIP } from "node:net";
import { resolve } from "node:path";
import { networkOf } from "./http/trusted-proxies.ts";
import { Secret } from "./secret.ts";

export interface Setting<T> {
  readonly variable: string;
  /** Used if the variable is absent or empty. Undefined: the setting is optional, and null when unset. */
  readonly fallback: string | undefined;
  readonly about: string;
  readonly allowed: string;
  /** Undefined for an invalid text. */
  readonly parse: (text: string) => T | undefined;
  readonly isSecret: boolean;
}

/** The values of a table of settings. */
export type ValuesOf<Table> = {
  readonly [Name in keyof Table]: Table[Name] extends Setting<infer T> ? T : never;
};

/** Of `values`, those that `table` declares: a part of the server is given its own settings only. */
export function valuesOf<Table extends object>(table: Table, values: ValuesOf<Table>): ValuesOf<Table> {
  const names = Object.keys(table) as (keyof Table)[];
  return Object.fromEntries(names.map((name) => [name, values[name]])) as ValuesOf<Table>;
}

type Described = Pick<Setting<unknown>, "variable" | "about"> & { readonly isSecret?: boolean };
export type Kind<T> = Pick<Setting<T>, "allowed" | "parse">;

export function setting<T>(described: Described, kind: Kind<T>, fallback: string): Setting<T> {
  return { isSecret: false, ...described, ...kind, fallback };
}

export function optional<T>(described: Described, kind: Kind<T>): Setting<T | null> {
  return { isSecret: false, ...described, ...kind, fallback: undefined };
}

export function integer(least: number, most: number): Kind<number> {
  return {
    allowed: `a whole number from ${least} to ${most}`,
    parse(text) {
      const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
      return value >= least && value <= most ? value : undefined;
    },
  };
}

export const cores: Kind<number> = {
  allowed: "a number from 0 to 1024, with at most one decimal",
  parse: (text) => (/^\d{1,4}(\.\d)?$/.test(text) && Number(text) <= 1024 ? Number(text) : undefined),
};

export function oneOf<const T extends string>(values: readonly T[]): Kind<T> {
  return { allowed: `one of ${values.join(", ")}`, parse: (text) => values.find((value) => value === text) };
}

export function matching(pattern: RegExp, allowed: string): Kind<string> {
  return { allowed, parse: (text) => (pattern.test(text) ? text : undefined) };
}

export const port = integer(0, 65_535);

export const portOrOff: Kind<number | null> = {
  allowed: `${port.allowed}, or off`,
  parse: (text) => (text === "off" ? null : port.parse(text)),
};

export const flag: Kind<boolean> = {
  allowed: "1 or 0",
  parse: (text) => (text === "1" ? true : text === "0" ? false : undefined),
};

export const folder: Kind<string> = {
  allowed: "the path of a folder",
  parse: (text) => (text.includes("\0") ? undefined : resolve(text)),
};

export const file: Kind<string> = { ...folder, allowed: "the path of a file" };

export const bindAddress: Kind<string> = {
  allowed: "an IP address, or localhost",
  parse: (text) => (isIP(text) || text === "localhost" ? text : undefined),
};

export const origin: Kind<string> = {
  allowed: "an http:// or https:// URL without a path, for example https://video.example.com",
  parse(text) {
    const url = URL.parse(text);
    const isOrigin = url && /^https?:$/.test(url.protocol) && url.pathname === "/" && !url.search && !url.hash;
    return isOrigin && !url.username && !url.password ? url.origin : undefined;
  },
};

export const networks: Kind<readonly string[]> = {
  allowed: "comma-separated IP addresses or networks such as 10.0.0.0/8",
  parse(text) {
    const list = text.split(",").map((network) => network.trim());
    return list.every(networkOf) ? list : undefined;
  },
};

export const addresses: Kind<readonly string[]> = {
  allowed: "comma-separated IP addresses",
  parse(text) {
    const list = text.split(",").map((address) => address.trim());
    return list.every((address) => isIP(address) !== 0) ? list : undefined;
  },
};

/** RFC 7065. */
const TURN_URL = /^turns?:(?:\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::(\d{1,5}))?(?:\?transport=(?:udp|tcp))?$/i;
const isTurnUrl = (text: string): boolean => {
  const [url, port = "1"] = TURN_URL.exec(text) ?? [];
  return url !== undefined && Number(port) >= 1 && Number(port) <= 65_535;
};
/** Each costs a browser sockets and time. */
const MAX_TURN_URLS = 6;

export const turnUrls: Kind<readonly string[]> = {
  allowed: `up to ${MAX_TURN_URLS} comma-separated URLs such as turn:turn.example.com:3478?transport=tcp`,
  parse(text) {
    const list = text.split(",").map((url) => url.trim());
    return list.length <= MAX_TURN_URLS && list.every(isTurnUrl) ? list : undefined;
  },
};

export const plainAddress: Kind<string> = {
  allowed: "an http:// or https:// URL without user and password",
  parse(text) {
    const url = URL.parse(text);
    const isPlain = url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash;
    return isPlain ? url.href.replace(/\/$/, "") : undefined;
  },
};

export const apiKey: Kind<Secret> = {
  allowed: "16 to 200 visible ASCII characters, without spaces",
  parse: (text) => (/^[!-~]{16,200}$/.test(text) ? new Secret(text) : undefined),
};

export const databaseUrl: Kind<Secret> = {
  allowed: "a URL such as postgres://user:password@host:5432/database",
  parse: (text) => (/^postgres(ql)?:$/.test(URL.parse(text)?.protocol ?? "") ? new Secret(text) : undefined),
};

export const secretKey: Kind<Secret> = {
  allowed: "1 to 300 visible ASCII characters, without spaces",
  parse: (text) => (/^[!-~]{1,300}$/.test(text) ? new Secret(text) : undefined),
};
