import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { type CountryResponse, Reader } from "mmdb-lib";
import { StartupError } from "../startup-error.ts";

/** The form in which a dual-stack socket shows an IPv4 address: RFC 4291 section 2.5.5.2. */
const MAPPED = "::ffff:";

/** The country of an address, from a file in MaxMind's format (GeoLite2 Country and City, DB-IP and others). */
export class Countries {
  readonly #reader: Reader<CountryResponse>;

  constructor(file: Buffer) {
    this.#reader = new Reader<CountryResponse>(file);
  }

  /** ISO 3166-1 alpha-2; empty if the file does not know the address. */
  of(address: string): string {
    const plain = address.startsWith(MAPPED) ? address.slice(MAPPED.length) : address;
    if (isIP(plain) === 0) return "";
    return this.#reader.get(plain)?.country?.iso_code ?? "";
  }
}

/** Throws `StartupError` if the file is missing or has another format. */
export function readCountries(path: string): Countries {
  try {
    const countries = new Countries(readFileSync(path));
    countries.of("192.0.2.1");
    return countries;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartupError(`WEIR_GEOIP_FILE: cannot read ${path} as a file in MaxMind's format (${reason})`);
  }
}
