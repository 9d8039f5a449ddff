import type { sessionRoutes } from "../routes/session-routes.ts";
import type { DescriptionsOf } from "./description.ts";
import { clip, ids, session } from "./example-objects.ts";

export const sessionDescriptions: DescriptionsOf<typeof sessionRoutes> = {
  listStreamSessions: {
    description:
      "Returns the sessions of one stream that have media, latest first. `record=true` selects those that were recorded. A recording's addresses appear when it is ready; `forceUrl=true` shows them earlier.",
    example: { params: { id: ids.stream }, query: { record: "true" }, answer: [session] },
    errors: ["bad-request", "not-found"],
  },
  listChildSessions: {
    description:
      "Returns the sessions of one stream, at the address that older clients of the public API use. The response is the same as from `listStreamSessions`.",
    example: { params: { id: ids.stream }, answer: [session] },
    errors: ["bad-request", "not-found"],
    deprecatedFor: "listStreamSessions",
  },
  listSessions: {
    description:
      "Returns the sessions of all streams of the project, latest first. `parentId` selects those of one stream, and `filters` selects by `recordingStatus` and other fields.",
    example: { query: { parentId: ids.stream }, answer: [session] },
    errors: ["bad-request"],
  },
  getSession: {
    description:
      "Returns one session: a single broadcast, across reconnects, and its recording. `sourceRecording=true` adds `sourceRecordingUrl`.",
    example: { params: { id: ids.session }, answer: session },
    errors: ["not-found"],
  },
  deleteSession: {
    description:
      "Deletes the recording of a session that has ended; this cannot be undone. The session itself stays in lists, with `recordingStatus: deleted`. Players are refused within 5 seconds, and the files are removed after an hour.",
    example: { params: { id: ids.session } },
    errors: ["not-found", "session-live"],
  },
  deleteSessions: {
    description:
      "Deletes the recordings of several ended sessions in one transaction. If one id is unknown or its session is live, nothing is deleted.",
    example: { body: { ids: [ids.session] } },
    errors: ["not-found", "session-live", "missing-ids"],
  },
  listSessionClips: {
    description:
      "Returns the clips that were cut from one session, newest first. Each clip is an asset with its own playback id.",
    example: { params: { id: ids.session }, answer: [clip] },
    errors: ["not-found"],
  },
};
