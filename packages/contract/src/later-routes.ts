/** An operation that clients of this API know and this server does not implement yet: 501 with a sentence, once the key is verified. */
export interface LaterRoute {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  /** The missing feature, as in "this server has no clips yet". */
  readonly what: string;
}

type Operations = readonly `${LaterRoute["method"]} /${string}`[];

const later = (what: string, operations: Operations): LaterRoute[] =>
  operations.map((operation) => {
    const [method, path] = operation.split(" ") as [LaterRoute["method"], string];
    return { method, path: `/api${path}`, what };
  });

const GENERATED = [
  "audio-to-text",
  "image-to-image",
  "image-to-text",
  "image-to-video",
  "llm",
  "segment-anything-2",
  "text-to-image",
  "text-to-speech",
  "upscale",
];

/** Every operation that answers 501. */
export const laterRoutes: readonly LaterRoute[] = [
  ...GENERATED.flatMap((name) => later("generated media", [`POST /generate/${name}`, `POST /beta/generate/${name}`])),
  ...later("rooms", [
    "POST /room",
    "GET /room/:id",
    "DELETE /room/:id",
    "POST /room/:id/egress",
    "DELETE /room/:id/egress",
    "POST /room/:id/user",
    "GET /room/:id/user/:userId",
    "PUT /room/:id/user/:userId",
    "DELETE /room/:id/user/:userId",
  ]),
];
