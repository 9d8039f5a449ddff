import { failureOf } from "../../../platform/outbound/outbound.ts";

/** Why a source cannot be pulled, as a sentence without its address. */
export class SourceProblem extends Error {}

/** Of a private host, too, nobody learns more: which ports answer there is none of the customer's business. */
export const UNREACHABLE =
  "The source cannot be reached. Check its address, and that its network lets this server connect.";
export const LOST = "The connection to the source was lost, or brought nothing for 15 s.";

export const CLOSED = "The source closed the connection.";

/** An answer that says nothing of its length has ended as it should: a file whose end this is, or a live source that was stopped. */
export class UnclearEnd extends SourceProblem {
  constructor() {
    super(CLOSED);
  }
}

export const notCalled = (why: string): string => `The source leads to an address that is not called: ${why}.`;

/** `why` is of its certificate. */
const untrusted = (why: string): string => `The source cannot be trusted: ${why}.`;

/** Why no connection to a source was made. */
export function connectionProblem(error: Error): string {
  const { sentence, isRefused } = failureOf(error);
  return failedFor(sentence, isRefused);
}

/** The same of a failure that is a sentence already. */
export function failedFor(sentence: string, isRefused: boolean): string {
  if (isRefused) return notCalled(sentence);
  return sentence.includes("certificate") ? untrusted(sentence) : UNREACHABLE;
}
