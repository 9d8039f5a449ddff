import { WeirClient } from "@weir/client";

/** The server that delivered this page, by its sign-in cookie. */
export const weir = new WeirClient({ baseUrl: "" });
