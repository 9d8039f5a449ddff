/** Public interface of audiences: device types and countries, never persons. */
export { type Audience, Audiences } from "./audiences.ts";
export { type Countries, readCountries } from "./countries.ts";
export { HourlyAudiences, MAX_AUDIENCES_PER_HOUR } from "./hourly-audiences.ts";
