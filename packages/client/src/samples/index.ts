/** Requests as code, for the reference and the dashboard. Programs do not need it: the archive leaves it out. */
export { type ClientCall, type RecordedCall, recordCall } from "./recorded-call.ts";
export { type RequestSamples, requestSamples } from "./request-samples.ts";
