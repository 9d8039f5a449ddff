import { type Static, Type } from "typebox";
import { exact, Id, Milliseconds } from "./exact.ts";

/** Body of `POST /api/dashboard/sign-in`: exchanges the key for an HttpOnly cookie. */
export const SignIn = exact({ apiKey: Type.String({ minLength: 1, maxLength: 500 }) });
export type SignIn = Static<typeof SignIn>;

/** Body of `POST /api/dashboard/log-in`: the same for a person. */
export const LogIn = exact({
  name: Type.String({ minLength: 1, maxLength: 254 }),
  password: Type.String({ minLength: 1, maxLength: 200 }),
});
export type LogIn = Static<typeof LogIn>;

/** The person or key that is signed in to the dashboard. */
export const DashboardSession = Type.Object({
  userId: Id,
  projectId: Id,
  keyName: Type.String({ description: "Name of the API key or person that signed in" }),
  keyPrefix: Type.String({ description: "First characters of the API key, to tell keys apart; empty for a person" }),
  personId: Type.Optional(Id),
  reach: Type.Enum(["project", "account"], { description: "Whether it reaches one project or the whole account" }),
  expiresAt: Milliseconds,
});
export type DashboardSession = Static<typeof DashboardSession>;

/** The caller's account. */
export const Account = Type.Object({
  id: Id,
  kind: Type.Literal("user"),
  name: Type.String(),
  createdAt: Milliseconds,
});
export type Account = Static<typeof Account>;

/** One setting of the responding process. */
export const EffectiveSetting = Type.Object({
  variable: Type.String(),
  about: Type.String(),
  value: Type.Union([Type.String(), Type.Null()], { description: "Null if unset; `[secret]` for a secret" }),
  isDefault: Type.Boolean(),
});
export type EffectiveSetting = Static<typeof EffectiveSetting>;

/** The server's configuration, for the dashboard's settings page. */
export const ServerSettings = Type.Object({
  version: Type.String(),
  settings: Type.Array(EffectiveSetting),
  nodes: Type.Array(
    Type.Object({
      id: Id,
      name: Type.String(),
      region: Type.String(),
      roles: Type.Array(Type.String()),
      state: Type.Enum(["joining", "serving", "draining", "gone"]),
      joinedAt: Milliseconds,
      lastSeen: Milliseconds,
      version: Type.Optional(Type.String({ description: "The version of Weir that the process runs" })),
      isThis: Type.Boolean({ description: "The process that answered" }),
    }),
  ),
});
export type ServerSettings = Static<typeof ServerSettings>;

/** The public address of this server, with which URLs in webhooks and events begin. */
export const ServerAddress = Type.Object({
  address: Type.String({ description: "`http://` or `https://` with a host, without a trailing slash" }),
  source: Type.Enum(["setting", "pinned", "used", "default"], {
    description:
      "`setting`: WEIR_PUBLIC_URL. `pinned`: an operator chose it. `used`: an operator's dashboard was last opened at it. `default`: no address is known",
  }),
  rtmp: Type.String({ description: "RTMP ingest address on that host" }),
  pinned: Type.Union([Type.String(), Type.Null()]),
  lastUsed: Type.Union([Type.String(), Type.Null()]),
});
export type ServerAddress = Static<typeof ServerAddress>;

/** Body of `PUT /api/dashboard/address`. */
export const ServerAddressPin = exact({
  address: Type.Union([Type.String({ maxLength: 300 }), Type.Null()], {
    description: "Pins this address; null returns to the last used one",
  }),
});
export type ServerAddressPin = Static<typeof ServerAddressPin>;

/** Header that a state-changing request must carry (value `1`) when it is authenticated by the dashboard's cookie. */
export const DASHBOARD_REQUEST_HEADER = "x-weir-request";
