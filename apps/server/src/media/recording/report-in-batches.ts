import type { EventSink, MediaFact } from "../../ports/index.ts";

/** Far below the event sink's capacity, so that facts of live streams keep their space. */
const BATCH = 200;

/** Report facts and wait until each batch is durable. False, with the rest unreported, if the database does not accept a batch for now. */
export async function reportInBatches(eventSink: EventSink, facts: readonly MediaFact[]): Promise<boolean> {
  for (let at = 0; at < facts.length; at += BATCH) {
    for (const fact of facts.slice(at, at + BATCH)) eventSink.report(fact);
    if (!(await eventSink.settle())) return false;
  }
  return true;
}
