import type { streamRoutes } from "../routes/stream-routes.ts";
import type { DescriptionsOf } from "./description.ts";
import { clip, ids, newStream, playbackIds, STREAM_KEY, session, stream, times } from "./example-objects.ts";

/** Of one pixel. */
const SMALL_PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=";

/** Errors of a body that describes a stream: its rules are checked against each other, and against the project's webhooks and targets. */
const invalidStream = ["bad-request", "bad-url", "missing-webhook", "private-address"] as const;

export const streamDescriptions: DescriptionsOf<typeof streamRoutes> = {
  createStream: {
    description:
      "Creates a stream and returns it with its `streamKey` for the broadcaster and its `playbackId` for viewers. Only `name` is required. Without `profiles` the stream gets the default ladder of four renditions; with an empty list it has the source quality only. A target given as `spec` is created too.",
    example: {
      body: { name: "Main stage", record: true, creatorId: "creator-42", userTags: { venue: "hall-1" } },
      answer: newStream,
    },
    errors: [...invalidStream, "too-many-streams", "not-implemented"],
  },
  listStreams: {
    description:
      "Returns the project's streams, most recently seen first. `active=true` selects those that are live or waiting for their broadcaster to reconnect. `filters` selects by any field, for example `creatorId` or a part of the name.",
    example: { query: { active: "true", limit: "20" }, answer: [stream] },
    errors: ["bad-request"],
  },
  getStream: {
    description:
      "Returns one stream with its current state, its counters and the connection state of each multistream target. `streamKey` and `pull` are absent for API keys that cannot change the stream.",
    example: { params: { id: ids.stream }, answer: stream },
    errors: ["not-found"],
  },
  getStreamByPlaybackId: {
    description:
      "Finds the stream with a playback id, for programs that store only playback ids. Playback ids of sessions and assets are not found here.",
    example: { params: { id: playbackIds.stream }, answer: stream },
    errors: ["not-found"],
  },
  getStreamByKey: {
    description:
      "Finds the stream with a stream key. A stream key is a secret: call this from a server that does not log addresses.",
    example: { params: { id: STREAM_KEY }, answer: stream },
    errors: ["not-found"],
  },
  getStreamInfo: {
    description:
      "Finds a stream by any of its ids and returns it together with a session: the one whose id was given, otherwise the latest one. Three flags tell which kind of id it was.",
    example: {
      params: { id: ids.stream },
      answer: { stream, session, isPlaybackid: false, isSession: false, isStreamKey: false },
    },
    errors: ["not-found"],
  },
  listStreamsOfUser: {
    description:
      "Returns the streams that an account has created in the caller's project. For any account other than the caller's own, the response is 404.",
    example: { params: { id: ids.account }, answer: [stream] },
    errors: ["bad-request", "not-found"],
  },
  patchStream: {
    description:
      "Changes the given fields and leaves all others as they are. Changes of targets, the playback policy and `suspended` take effect at once, even for a live stream. `record` and `profiles` can only change while the stream is not active. After a change of `pull.source`, the pull continues from the new source; `pull: null` ends the pull and removes the source. Responds with 204 without a body: clients of the public API expect that.",
    example: { params: { id: ids.stream }, body: { name: "Main stage, day 2", playbackPolicy: { type: "jwt" } } },
    errors: [...invalidStream, "not-found", "not-implemented"],
  },
  patchStreamRecord: {
    description:
      "Turns recording on or off for future sessions. A live session keeps its setting, so the request is refused while the stream is active. Responds with 204 without a body: clients of the public API expect that.",
    example: { params: { id: ids.stream }, body: { record: true } },
    errors: ["bad-request", "not-found"],
  },
  patchStreamSuspended: {
    description:
      "Suspends a stream or resumes it. A suspended stream refuses broadcasters and viewers, and its current broadcaster is disconnected at once. The stream and its recordings are kept. Responds with 204 without a body: clients of the public API expect that.",
    example: { params: { id: ids.stream }, body: { suspended: true } },
    errors: ["not-found", "missing-suspended"],
  },
  setStreamSlateImage: {
    description:
      'Sets the image that viewers of a stream with `slate: "image"` see while the broadcaster may reconnect, from the next session on. It is shown as large as fits, with black around it, in every rendition. A stream without an image, a rendition that is not H.264 of 8 bits in 4:2:0, and an image of more than 16 million pixels get the last picture instead.',
    example: { params: { id: ids.stream }, body: { image: SMALL_PNG } },
    errors: ["bad-request", "not-found"],
  },
  deleteStream: {
    description:
      "Deletes a stream for good and disconnects its broadcaster. Its recordings are kept unless `recordings=true` is given. Afterwards the stream is not found under any of its ids.",
    example: { params: { id: ids.stream }, query: { recordings: "true" } },
    errors: ["not-found"],
  },
  deleteStreams: {
    description:
      "Deletes several streams in one transaction. If one id is unknown, none is deleted and the response is 404. Recordings are kept unless `recordings=true` is given.",
    example: { body: { ids: [ids.stream] } },
    errors: ["not-found", "missing-ids"],
  },
  terminateStream: {
    description:
      "Disconnects the current broadcaster and ends the session. The stream key stays valid, so an encoder that retries is live again after a moment. To keep it away, suspend the stream or rotate the key. A stream can be terminated once in 5 seconds.",
    example: { params: { id: ids.stream } },
    errors: ["not-found", "too-many-terminates"],
  },
  pullStream: {
    description:
      "Creates a stream that Weir pulls from `pull.source`, and starts the pull. If the project already has a stream with that source, the call replaces that stream instead and responds with 200: fields that are not in the body are cleared, and a suspended stream is resumed. With the query parameter `key=creatorId`, it replaces the stream with the same `creatorId`; if there are several, it responds with an error.",
    example: {
      body: { name: "Harbour", pull: { source: "https://camera.example.com/harbour/index.m3u8" } },
      answer: stream,
    },
    errors: [...invalidStream, "too-many-streams", "not-implemented"],
  },
  startPull: {
    description:
      "Makes a media node connect to the stream's `pull.source` and publish what it sends. If the source fails, Weir retries after increasing delays of at most a minute; `status.pull` has the reason. The pull lasts until the source ends or the stream is terminated. With `pull.onlyWhileWatched`, it pauses while nobody watches. A pull that is already running is restarted.",
    example: { params: { id: ids.stream } },
    errors: ["bad-request", "not-found", "stream-suspended"],
  },
  tryPull: {
    description:
      "Connects to a source as a pull does, for at most 10 seconds. Returns its first video and audio track and names the tracks that a pull would leave out, or says what is wrong with the source. Nothing is published, and no stream changes. For a source that refuses the connection, does not respond or closes the connection, the sentence is always the same, and nothing that it sent is shown. A project may try 10 sources a minute.",
    example: {
      body: { source: "https://camera.example.com/harbour/index.m3u8" },
      answer: {
        tracks: [
          { kind: "video", codec: "avc1.640028", width: 1920, height: 1080, frameRate: 25 },
          { kind: "audio", codec: "mp4a.40.2", sampleRate: 48_000, channels: 2 },
        ],
      },
    },
    errors: ["bad-request", "private-address", "not-implemented"],
  },
  rotateStreamKey: {
    description:
      "Gives the stream a new `streamKey` and disconnects a broadcaster who uses the old one. A broadcaster who returns with the new key within the reconnect window continues the same session and recording.",
    example: { params: { id: ids.stream }, answer: newStream },
    errors: ["not-found"],
  },
  listRefusedPublishes: {
    description:
      "Shows why an encoder could not publish: each attempt that the server refused in the last 15 minutes, with the message that the encoder received. Each server process lists its own refusals and forgets them when it restarts.",
    example: {
      params: { id: ids.stream },
      answer: [
        {
          timestamp: times.started,
          protocol: "rtmp",
          address: "203.0.113.7",
          message: "the stream is suspended",
          isKnownKey: true,
        },
      ],
    },
    errors: ["not-found"],
  },
  testBroadcast: {
    description:
      "Publishes a generated picture and tone to the stream, so that players and targets can be tried without an encoder. It lasts 60 seconds unless you set `seconds`, and takes the same path as any broadcast.",
    example: { params: { id: ids.stream }, body: { seconds: 60 } },
    errors: ["bad-request", "stream-suspended", "not-found", "too-many-test-broadcasts"],
    bodyIsOptional: true,
  },
  listStreamClips: {
    description:
      "Returns the clips that were cut from a stream, live or from its recordings, newest first. Each clip is an asset.",
    example: { params: { id: ids.stream }, answer: [clip] },
    errors: ["not-found"],
  },
  addStreamTarget: {
    description:
      "Adds one destination to a stream: an existing target by `id`, or a new one by `spec`. A live stream is forwarded to it within seconds.",
    example: { params: { id: ids.stream }, body: { profile: "source", id: ids.target } },
    errors: [...invalidStream, "not-found"],
  },
  removeStreamTarget: {
    description:
      "Stops forwarding a stream to a target. The target itself is kept for other streams. `profile` limits the removal to the entry with this profile.",
    example: { params: { id: ids.stream, targetId: ids.target } },
    errors: ["not-found"],
  },
};
