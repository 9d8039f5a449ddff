/** Public interface of audiences: device types and countries, never persons. */
export { type Audience, Audiences } from "./audiences.ts";
export { type Countries, readCountries } from "./countries.ts";
