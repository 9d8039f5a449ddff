/** The door of the audience: kinds of devices and countries, never persons. */
export { type Audience, Audiences } from "./audiences.ts";
export { type Countries, readCountries } from "./countries.ts";
