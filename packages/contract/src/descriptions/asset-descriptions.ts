import type { assetRoutes } from "../routes/asset-routes.ts";
import type { clipRoutes } from "../routes/clip-routes.ts";
import type { DescriptionsOf } from "./description.ts";
import {
  asset,
  clip,
  EXAMPLE_ORIGIN,
  exportTask,
  ids,
  importedAsset,
  pendingAsset,
  playbackIds,
  task,
  times,
} from "./example-objects.ts";

type AssetRoutes = typeof assetRoutes;
type TaskName = "exportAsset" | "transcode" | "listTasks" | "getTask" | "retryTask";

const importing = {
  example: {
    body: { name: "film.mp4", url: "https://files.example.org/film.mp4" },
    answer: { asset: importedAsset, task: { id: ids.task } },
  },
  errors: ["bad-request", "missing-webhook", "private-address", "not-implemented", "asset-conflict"],
  alsoAnswers: { status: 200, description: "The file at this address is already being fetched: its asset and task" },
} as const;

export const assetDescriptions: DescriptionsOf<Omit<AssetRoutes, TaskName>> = {
  requestUpload: {
    description:
      "Creates an asset whose file the caller will send, and returns two addresses for it: `url` for a single `PUT`, and `tusEndpoint` for a resumable upload with any tus client. Both are valid for this asset only, so a web page can upload without an API key. Processing begins when the last byte arrives. Responds with 200 where other creations respond with 201: clients of the public API expect that.",
    example: {
      body: { name: "film.mp4" },
      answer: {
        url: `${EXAMPLE_ORIGIN}/api/asset/upload/direct?token=upload-token`,
        tusEndpoint: `${EXAMPLE_ORIGIN}/api/asset/upload/tus?token=upload-token`,
        asset: pendingAsset,
        task: { id: ids.task },
      },
    },
    errors: ["bad-request", "missing-webhook", "not-implemented", "asset-conflict", "too-many-uploads"],
  },
  importAsset: {
    description:
      "Creates an asset from a file that the server downloads from an `http` or `https` address. The response comes at once; `status.phase` of the asset, and the task, report the progress. Addresses in private networks are refused.",
    ...importing,
  },
  importAssetOlder: {
    description:
      "Creates an asset from an address, at the path that older clients of the public API use. The response is the same as from `importAsset`.",
    ...importing,
    deprecatedFor: "importAsset",
  },
  listAssets: {
    description:
      "Returns the project's assets, newest first: uploads, imports and clips. `phase=deleting` returns deleted assets that can still be restored. The tracks of each file are included only with `details=1`.",
    example: { query: { details: "1" }, answer: [asset] },
    errors: ["bad-request"],
  },
  getAsset: {
    description:
      "Returns one asset with the phase of its processing, and its addresses for playback and download as soon as they exist.",
    example: { params: { id: ids.asset }, answer: asset },
    errors: ["not-found"],
  },
  patchAsset: {
    description:
      "Changes the name, creator, retention or playback policy of an asset and returns the asset. A policy's details can change, but not from public to gated or back, because copies of a public file may exist anywhere.",
    example: {
      params: { id: ids.asset },
      body: { name: "Film, final cut" },
      answer: { ...asset, name: "Film, final cut" },
    },
    errors: ["bad-request", "missing-webhook", "not-implemented", "not-found", "asset-conflict"],
  },
  deleteAsset: {
    description:
      "Stops playback of an asset at once and schedules its files for removal. Until `status.purgeAt` the asset can be restored; `listAssets` with `phase=deleting` finds it.",
    example: { params: { id: ids.asset } },
    errors: ["bad-request", "not-found"],
  },
  restoreAsset: {
    description:
      "Undoes the deletion of an asset whose files have not been removed yet. It plays again at the same addresses as before.",
    example: { params: { id: ids.asset } },
    errors: ["bad-request", "not-found"],
  },
  retryAsset: {
    description:
      "Processes a failed asset again, from the uploaded file or its source address. Read `status.errorMessage` first: a damaged file fails again.",
    example: { params: { id: ids.asset }, answer: { task: { id: ids.task } } },
    errors: ["not-found", "asset-conflict"],
  },
};

export const taskDescriptions: DescriptionsOf<Pick<AssetRoutes, TaskName>> = {
  exportAsset: {
    description:
      "Sends the file of a ready asset, or of a session's recording, to your `http` or `https` address, in one request with `Content-Length`. It sends the original if Weir keeps it, otherwise the source-quality MP4. Any 2xx response after the whole file completes the task; redirects are not followed. Header values are never shown again. After a broken connection, a 5xx or a 429, Weir retries with the whole file. For a week, `retryTask` can restart a failed export.",
    example: {
      params: { id: ids.asset },
      body: {
        custom: {
          url: "https://archive.example.org/film.mp4",
          method: "PUT",
          headers: { authorization: "Bearer archive-token" },
        },
      },
      answer: { task: exportTask },
    },
    errors: ["bad-request", "private-address", "not-found", "not-ready", "not-implemented"],
  },
  transcode: {
    description:
      "Transcodes a file from your storage or a web address and writes HLS or MP4 files to your bucket. Weir keeps neither the file nor the results. The response is a task, which reports progress and, at the end, the paths of the results. Responds with 200 where other creations respond with 201: clients of the public API expect that.",
    example: {
      body: {
        input: { url: "https://files.example.org/film.mp4" },
        storage: {
          type: "s3",
          endpoint: "https://s3.eu-central-1.amazonaws.com",
          bucket: "results",
          credentials: { accessKeyId: "access-key-id", secretAccessKey: "secret-access-key" },
        },
        outputs: { hls: { path: "/film/hls" } },
      },
      answer: { ...task, status: { phase: "waiting", updatedAt: times.created } },
    },
    errors: ["bad-request", "private-address"],
  },
  listTasks: {
    description:
      "Returns the project's tasks, newest first: uploads, imports, clips, transcodes and exports that continue after the response to the request that started them.",
    example: { answer: [task] },
    errors: ["bad-request"],
  },
  getTask: {
    description:
      "Returns the progress and result of one task. Poll it every few seconds, or subscribe a webhook to `task.completed` and `task.failed`.",
    example: { params: { id: ids.task }, answer: task },
    errors: ["not-found"],
  },
  retryTask: {
    description:
      "Starts a failed or cancelled task again with the same input. Tasks that are waiting, running or completed are refused.",
    example: {
      params: { id: ids.task },
      answer: { ...task, status: { phase: "waiting", updatedAt: times.seen, retries: 1 } },
    },
    errors: ["not-found", "task-conflict", "asset-conflict"],
  },
};

export const clipDescriptions: DescriptionsOf<typeof clipRoutes> = {
  createClip: {
    description:
      "Cuts a clip out of a live stream, a recording or an asset. Times are milliseconds since the Unix epoch, as players read them from `EXT-X-PROGRAM-DATE-TIME`, or count from the start of the media. The clip is a separate asset, and stays when its source is deleted. Responds with 200 where other creations respond with 201: clients of the public API expect that.",
    example: {
      body: {
        playbackId: playbackIds.stream,
        startTime: times.started + 600_000,
        endTime: times.started + 630_000,
        name: "Encore",
      },
      answer: {
        asset: { ...pendingAsset, id: ids.clip, playbackId: playbackIds.clip, name: "Encore", source: clip.source },
        task: { id: ids.task },
      },
    },
    errors: ["bad-request", "missing-webhook", "not-found", "too-many-clips", "impossible-clip"],
  },
  listClips: {
    description:
      "Returns the clips of a stream, session or asset, newest first. The id may be the object's own or its playback id.",
    example: { params: { id: ids.stream }, answer: [clip] },
    errors: ["not-found"],
  },
  listAssetClips: {
    description:
      "Returns the clips that were cut from one asset, newest first. Each clip is an asset too, so a clip can have clips.",
    example: { params: { id: ids.asset }, answer: [clip] },
    errors: ["not-found"],
  },
};
