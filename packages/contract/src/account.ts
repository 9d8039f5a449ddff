import { type Static, Type } from "typebox";
import { exact, Id, Milliseconds } from "./exact.ts";

/** Body of `POST /api/dashboard/sign-in`: the key is exchanged for an HttpOnly cookie. */
export const SignIn = exact({ apiKey: Type.String({ minLength: 1, maxLength: 500 }) });
export type SignIn = Static<typeof SignIn>;

/** Who is signed in at the dashboard. */
export const DashboardSession = Type.Object({
  userId: Id,
  projectId: Id,
  keyName: Type.String(),
  keyPrefix: Type.String({ description: "First characters of the API key, to tell keys apart" }),
  expiresAt: Milliseconds,
});
export type DashboardSession = Static<typeof DashboardSession>;

/** Header that a state-changing request must carry (value `1`) when it is authenticated by the dashboard's cookie. */
export const DASHBOARD_REQUEST_HEADER = "x-weir-request";
