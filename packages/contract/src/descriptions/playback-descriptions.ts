import type { accessControlRoutes } from "../routes/access-control-routes.ts";
import type { playbackRoutes } from "../routes/playback-routes.ts";
import type { DescriptionsOf } from "./description.ts";
import { EXAMPLE_ORIGIN, gatedPolicy, ids, playbackIds, signingKey, times } from "./example-objects.ts";

const host = EXAMPLE_ORIGIN.replace("https://", "");

export const playbackDescriptions: DescriptionsOf<typeof playbackRoutes> = {
  getApiBase: {
    description:
      "Returns the server's version and the addresses of its API description, its documentation and its dashboard. It needs no key.",
    example: {
      answer: {
        name: "Weir",
        version: "0.1.0",
        openapi: `${EXAMPLE_ORIGIN}/api/openapi.json`,
        docs: `${EXAMPLE_ORIGIN}/docs`,
        dashboard: `${EXAMPLE_ORIGIN}/`,
      },
    },
    errors: [],
  },
  getPlayback: {
    description:
      "Returns the addresses at which a playback id plays: HLS, WebRTC, MP4 files and thumbnails, best first. It needs no key, so any web page may call it. For gated video, it shows the type of the policy, and the addresses refuse viewers without a credential. `recordings=true` with the owner's key adds the recordings of a stream.",
    example: {
      params: { id: playbackIds.stream },
      answer: {
        type: "live",
        meta: {
          live: 1,
          playbackPolicy: { type: gatedPolicy.type },
          source: [
            {
              hrn: "HLS (TS)",
              type: "html5/application/vnd.apple.mpegurl",
              url: `${EXAMPLE_ORIGIN}/hls/${playbackIds.stream}/index.m3u8`,
            },
            {
              hrn: "WebRTC (H264)",
              type: "html5/video/h264",
              url: `${EXAMPLE_ORIGIN}/webrtc/${playbackIds.stream}`,
            },
          ],
        },
      },
    },
    errors: ["not-found", "not-ready", "unauthenticated", "unknown-key", "forbidden"],
    takesKey: true,
  },
  getIngest: {
    description:
      "Returns the addresses that encoders publish to and the base addresses of playback. Append `/` and the stream key to an ingest address, and `?streamid=` and the stream key to that of SRT. `rtmps` and `srt` are absent if they are off. It needs no key. With a key that has full access, the response includes `srtPassphrase` if the server has one.",
    example: {
      answer: [
        {
          ingest: `rtmp://${host}:1935/live`,
          ingests: { rtmp: `rtmp://${host}:1935/live`, srt: `srt://${host}:8890`, webrtc: `${EXAMPLE_ORIGIN}/webrtc` },
          playback: `${EXAMPLE_ORIGIN}/hls`,
          playbackDirect: `${EXAMPLE_ORIGIN}/hls`,
          base: EXAMPLE_ORIGIN,
          baseDirect: EXAMPLE_ORIGIN,
          origin: EXAMPLE_ORIGIN,
        },
      ],
    },
    errors: [],
  },
};

export const accessControlDescriptions: DescriptionsOf<typeof accessControlRoutes> = {
  createSigningKey: {
    description:
      "Creates a key pair for playback tokens (ES256). Only this response contains `privateKey`. Keep it on your server, and sign a token for each viewer there. A project can have several keys, eleven at most, so that one can replace another without a gap. Responds with 200 where other creations respond with 201: clients of the public API expect that.",
    example: {
      body: { name: "Signing Key 1" },
      answer: {
        ...signingKey,
        privateKey: "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCk1JR0hBZ0VBTUJNR0J5cUdTTTQ5QWdFR0NDcUdT",
      },
    },
    errors: ["not-found", "too-many-signing-keys", "answer-not-kept", "bad-request"],
    bodyIsOptional: true,
  },
  listSigningKeys: {
    description:
      "Returns the project's signing keys with the time of their last use. Private keys are not stored, so no response contains them.",
    example: { answer: [signingKey] },
    errors: ["bad-request"],
  },
  getSigningKey: {
    description:
      "Returns the record of one signing key: its name, its public key, and the time when one of its tokens was last accepted.",
    example: { params: { id: ids.signingKey }, answer: signingKey },
    errors: ["not-found"],
  },
  patchSigningKey: {
    description:
      "Renames a signing key, or disables it. Tokens of a disabled key are refused within 5 seconds, even for current viewers; enabling it makes them valid again. Responds with 204 without a body: clients of the public API expect that.",
    example: { params: { id: ids.signingKey }, body: { disabled: true } },
    errors: ["not-found"],
  },
  deleteSigningKey: {
    description:
      "Deletes a signing key for good. Tokens that were signed with it are refused within 5 seconds, even for current viewers.",
    example: { params: { id: ids.signingKey } },
    errors: ["not-found"],
  },
  tryAccess: {
    description:
      "Decides as for a viewer with these credentials on this page, including the call to your access webhook, and explains the decision. Viewers never see the reason.",
    example: {
      body: { playbackId: playbackIds.stream, jwt: "eyJhbGciOiJFUzI1NiJ9.e30.c2ln", origin: "https://www.example.com" },
      answer: { allowed: false, reason: "The token has expired: sign a new one." },
    },
    errors: ["not-found"],
  },
  createOwnerToken: {
    description:
      "Returns a token that plays one stream or recording of the project for an hour, whatever its policy is. It is for the owner's own player. Give viewers tokens that you sign with a signing key.",
    example: {
      body: { playbackId: playbackIds.stream },
      answer: { token: "owner-token", expiresAt: times.started + 3_600_000 },
    },
    errors: ["not-found", "answer-not-kept"],
  },
};
