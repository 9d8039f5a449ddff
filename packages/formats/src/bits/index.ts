export { BitReader } from "./bit-reader.ts";
export { BitWriter } from "./bit-writer.ts";
export { FormatError } from "./format-error.ts";
export { WrappedCounter } from "./wrapped-counter.ts";
