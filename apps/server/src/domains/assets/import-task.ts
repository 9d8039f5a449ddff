import { DatabaseAway } from "../../platform/database-away.ts";
import { DownloadFailed } from "../../platform/outbound/outbound-download.ts";
import { isDiskAway } from "../../platform/storage/disk-failed.ts";
import { StoreFailed } from "../../platform/storage/store-failed.ts";
import type { ImportRequest } from "../../platform/uploads/upload-import.ts";
import { UploadRefused } from "../../platform/uploads/upload-refused.ts";
import { TaskFailed } from "../../ports/index.ts";
import type { Deps } from "../deps.ts";
import type { DomainConfig } from "../settings.ts";
import { RunFailed } from "../tasks/index.ts";
import { type AssetTask, lockAssetFor } from "./asset-task.ts";
import { projectRoom } from "./project-room.ts";

const NO_ROOM = "The project has no room for this file: delete assets or recordings, then retry the asset.";

export interface ImportTaskDeps extends Deps, Pick<DomainConfig, "maxUploadBytes" | "assetBytesPerProject"> {
  /** Bring the file at an address to the object store as if it had been uploaded. */
  importFile(request: ImportRequest): Promise<void>;
}

/** Fetches the file of one asset, which waits meanwhile. Once the file is in the object store, its upload gate queues what comes next. */
export function importTask({ db, maxUploadBytes, assetBytesPerProject, importFile }: ImportTaskDeps): AssetTask<void> {
  return {
    name: "import-asset",
    lock: (trx, id, at) => lockAssetFor("import-asset", trx, id, at),
    begin: async () => [],
    async run({ id, project_id, source }, { signal, progressed }) {
      const room = await projectRoom(db, project_id, assetBytesPerProject);
      if (room === 0 || source.type !== "url") throw new TaskFailed(NO_ROOM, { isFinal: true });
      const maxBytes = Math.min(maxUploadBytes, room ?? maxUploadBytes);
      try {
        await importFile({ id, url: source.url, maxBytes, signal, onProgress: progressed });
      } catch (error) {
        throw signal.aborted || isAway(error) ? error : failureOf(error);
      }
    },
    finish: async () => [],
  };
}

/** Not the file's fault, nor its host's: such a run does not count. */
const isAway = (error: unknown): boolean => error instanceof DatabaseAway || error instanceof StoreFailed;

function failureOf(error: unknown): RunFailed {
  const [why, remedy] = whyOf(error);
  return new RunFailed(`The file could not be fetched: ${why}. ${remedy}`, {
    isFinal: error instanceof DownloadFailed && error.isFinal,
    meanwhile: `The file could not be fetched yet: ${why}. Weir tries again.`,
    cause: error,
  });
}

/** What went wrong, and what to do about it. */
function whyOf(error: unknown): readonly [string, string] {
  if (error instanceof DownloadFailed) return [error.message, "Check the address, then retry the asset."];
  if (error instanceof UploadRefused) return [error.message, "Retry the asset."];
  if (isDiskAway(error)) return ["the server's disk takes no more", "Give the disk room, then retry the asset."];
  return ["this server had an error, which its log has", "Retry the asset."];
}
