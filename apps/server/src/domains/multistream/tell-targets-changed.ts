import type { Log } from "../../platform/log.ts";
import type { MediaControl } from "../../ports/index.ts";

/** Let the sessions of these streams ask for their targets. The rows say it already, so a failure is logged and no more. */
export async function tellTargetsChanged(
  { mediaControl, log }: { readonly mediaControl: MediaControl; readonly log: Log },
  streamIds: readonly string[],
): Promise<void> {
  for (const streamId of streamIds) {
    try {
      await mediaControl.targetsChanged(streamId);
    } catch (error) {
      log.error({ err: error, streamId }, "could not notify media nodes of changed multistream targets");
    }
  }
}
