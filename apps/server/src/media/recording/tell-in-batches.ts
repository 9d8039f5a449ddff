import type { EventSink, MediaFact } from "../../ports/index.ts";

/** Far below what the event sink holds, so that facts of live streams keep their room. */
const BATCH = 200;

/** Report facts and wait until each batch of them is durable. False, with the rest untold, when the database does not take one for now. */
export async function tellInBatches(eventSink: EventSink, facts: readonly MediaFact[]): Promise<boolean> {
  for (let at = 0; at < facts.length; at += BATCH) {
    for (const fact of facts.slice(at, at + BATCH)) eventSink.report(fact);
    if (!(await eventSink.settle())) return false;
  }
  return true;
}
